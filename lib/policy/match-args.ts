import { sameJson } from '../json/equal.ts';
import { isRecord } from '../json/is-record.ts';
import { compilePattern, MAX_PATTERN_SIZE } from '../schema/compile-pattern.ts';
import type { PolicyCondition } from './policy-definition.ts';

/** All that the patterns of one condition read of one call. */
export const MOST_PATTERN_CHARS = 65_536;

/** `unknown`: there was more to read than is read. */
export type Held = boolean | 'unknown';

/** Whether a condition holds for the arguments. */
export type ArgsTest = (args: Readonly<Record<string, unknown>>) => Held;

export function compileCondition(condition: PolicyCondition): ArgsTest {
  const parts = condition.path.slice(1).split('/').map(unescapePart);
  const test = testOf(condition);
  return (args) => {
    const budget = { chars: MOST_PATTERN_CHARS };
    let reached = false;
    for (const value of valuesAt(args, parts)) {
      reached = true;
      const held = test(value, budget);
      if (held === 'unknown') return held;
      if (held !== condition.not) return true;
    }
    return condition.not && !reached;
  };
}

const unescapePart = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');

function* valuesAt(value: unknown, [part, ...rest]: readonly string[]): Iterable<unknown> {
  if (part === undefined) yield value;
  else if (part === '*') {
    if (typeof value !== 'object' || value === null) return;
    for (const member of Object.values(value)) yield* valuesAt(member, rest);
  } else if (Array.isArray(value)) {
    const at = /^(?:0|[1-9]\d{0,6})$/.test(part) ? Number(part) : -1;
    if (at >= 0 && at < value.length) yield* valuesAt(value[at], rest);
  } else if (isRecord(value) && Object.hasOwn(value, part)) yield* valuesAt(value[part], rest);
}

type ValueTest = (value: unknown, budget: { chars: number }) => Held;

function testOf({ equals, one_of, starts_with, matches }: PolicyCondition): ValueTest {
  if (one_of !== undefined) return (value) => one_of.some((one) => sameJson(one, value));
  if (starts_with !== undefined) {
    return (value) => typeof value === 'string' && value.startsWith(starts_with);
  }
  if (matches === undefined) return (value) => sameJson(equals, value);
  const compiled = compilePattern(matches, MAX_PATTERN_SIZE);
  if (!compiled.ok) throw new Error(`The pattern ${compiled.reason}`);
  return (value, budget) => {
    if (typeof value !== 'string') return false;
    budget.chars -= value.length;
    return budget.chars < 0 ? 'unknown' : compiled.pattern.test(value);
  };
}
