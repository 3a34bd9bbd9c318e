import { sameJson } from '../json/equal.ts';
import { isRecord } from '../json/is-record.ts';
import { parseToolReference, spellingOf } from '../protocol/tool-name.ts';
import { compilePattern, MAX_PATTERN_SIZE } from '../schema/compile-pattern.ts';
import type { PolicyCondition } from './policy-definition.ts';

/** All that the patterns of one condition read of one call. */
export const MOST_PATTERN_CHARS = 65_536;

/** All that the rules of one decision look at together: a value is a step. */
export const MOST_STEPS = 300_000;

/** `left` of `MOST_STEPS` is below zero once something was not looked at. */
export interface Steps {
  left: number;
}

export const newSteps = (): Steps => ({ left: MOST_STEPS });

/** `unknown`: there was more to read than is read, or a value that cannot be compared. */
export type Held = boolean | 'unknown';

/** Says that a condition holds for the arguments. */
export type ArgsTest = (args: Readonly<Record<string, unknown>>, steps: Steps) => Held;

/** One look at one call by one condition. */
interface Look {
  readonly steps: Steps;
  chars: number;
  reached: boolean;
}

export function compileCondition(condition: PolicyCondition): ArgsTest {
  const parts = condition.path.slice(1).split('/').map(unescapePart);
  const test = testOf(condition);
  /** One of the values at `parts` from `at` on passes. */
  const search = (value: unknown, at: number, look: Look): Held => {
    if (!spend(look.steps, 1)) return 'unknown';
    const part = parts[at];
    if (part !== undefined) {
      const next = (member: unknown) => search(member, at + 1, look);
      return part === '*' ? someMember(value, look.steps, next) : atMember(value, part, next);
    }
    look.reached = true;
    const held = test(value, look);
    return held === 'unknown' ? held : held !== condition.not;
  };
  return (args, steps) => {
    const look = { steps, chars: MOST_PATTERN_CHARS, reached: false };
    const held = search(args, 0, look);
    return held === false ? condition.not && !look.reached : held;
  };
}

const unescapePart = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');

function spend(steps: Steps, count: number): boolean {
  steps.left -= count;
  return steps.left >= 0;
}

function someMember(value: unknown, steps: Steps, next: (member: unknown) => Held): Held {
  if (typeof value !== 'object' || value === null) return false;
  // The names of an object are listed as a whole before its first member is looked at.
  const members = Array.isArray(value) ? value : Object.values(value);
  if (members !== value && !spend(steps, members.length)) return 'unknown';
  for (const member of members) {
    const held = next(member);
    if (held !== false) return held;
  }
  return false;
}

function atMember(value: unknown, part: string, next: (member: unknown) => Held): Held {
  if (Array.isArray(value)) {
    const at = /^(?:0|[1-9]\d{0,6})$/.test(part) ? Number(part) : -1;
    return at >= 0 && at < value.length && next(value[at]);
  }
  return isRecord(value) && Object.hasOwn(value, part) && next(value[part]);
}

type ValueTest = (value: unknown, look: Look) => Held;

function testOf(condition: PolicyCondition): ValueTest {
  const { equals, one_of, starts_with, matches, greater_than, less_than } = condition;
  if (one_of !== undefined) return isOneOf(one_of);
  if (starts_with !== undefined) return ofType('string', (text) => text.startsWith(starts_with));
  if (matches !== undefined) return ofType('string', testOfPattern(matches));
  if (greater_than !== undefined) return ofType('number', (value) => value > greater_than);
  if (less_than !== undefined) return ofType('number', (value) => value < less_than);
  return isOneOf([equals]);
}

interface Types {
  string: string;
  number: number;
}

/** A value of another type cannot be compared: it counts as one that could not be read. */
const ofType =
  <Type extends keyof Types>(
    type: Type,
    test: (value: Types[Type], look: Look) => Held,
  ): ValueTest =>
  (value, look) =>
    isOfType(value, type) ? test(value, look) : 'unknown';

const isOfType = <Type extends keyof Types>(value: unknown, type: Type): value is Types[Type] =>
  typeof value === type;

function isOneOf(all: readonly unknown[]): ValueTest {
  const isObject = (value: unknown) => typeof value === 'object' && value !== null;
  const simple = new Set(all.filter((one) => !isObject(one)));
  const objects = all.filter(isObject);
  return (value, { steps }) => {
    if (!isObject(value)) return simple.has(value);
    for (const one of objects) {
      const isSame = sameJson(one, value, (members) => spend(steps, members));
      if (steps.left < 0) return 'unknown';
      if (isSame) return true;
    }
    return false;
  };
}

/** Measured: a large pattern takes about a microsecond for a character, a small one a thousandth. */
const stepsOfPattern = (chars: number, size: number): number =>
  Math.floor((chars * (size + 16)) / 1_024);

function testOfPattern(source: string): (text: string, look: Look) => Held {
  const compiled = compilePattern(source, MAX_PATTERN_SIZE);
  if (!compiled.ok) throw new Error(`The pattern ${compiled.reason}`);
  const { pattern, size } = compiled;
  return (value, look) => {
    look.chars -= value.length;
    if (look.chars < 0) return 'unknown';
    if (!spend(look.steps, stepsOfPattern(value.length, size))) return 'unknown';
    return pattern.test(value);
  };
}

/** The spelling that all references to one tool have in common, without a client after `@`. */
export const toolSpelling = (reference: string): string =>
  spellingOf(parseToolReference(reference).name);

/** A tool has many spellings, and a rule that another spelling passes by is none (rule CR8). */
export function matchTools(patterns: readonly string[]): (reference: string) => boolean {
  const matches = matchSpellings(patterns);
  return (reference) => matches(toolSpelling(reference));
}

/** The same for what `toolSpelling` made of it, where many ask about one tool. */
export function matchSpellings(patterns: readonly string[]): (spelling: string) => boolean {
  const names = new Set(patterns.filter((one) => !one.endsWith('*')).map(toolSpelling));
  const prefixes = patterns
    .filter((one) => one.endsWith('*'))
    .map((one) => toolSpelling(one.slice(0, -1)));
  return (spelling) =>
    names.has(spelling) || prefixes.some((prefix) => spelling.startsWith(prefix));
}

/** The parts of a policy that name tools. */
export interface NamingPolicy {
  readonly ask: readonly string[];
  readonly deny: readonly string[];
  readonly rules: readonly { readonly tools?: readonly string[] | undefined }[];
  readonly limits?: readonly { readonly tools?: readonly string[] | undefined }[] | undefined;
}

/** Patterns that fit none of the tools, each once: misspelt, or of clients that are away. */
export function idlePatterns(policy: NamingPolicy, tools: readonly string[]): string[] {
  const { ask, deny, rules, limits = [] } = policy;
  const patterns = [...deny, ...ask, ...[...rules, ...limits].flatMap((one) => one.tools ?? [])];
  return [...new Set(patterns)].filter((pattern) => !tools.some(matchTools([pattern])));
}
