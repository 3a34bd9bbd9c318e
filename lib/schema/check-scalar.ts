import { canonicalJson } from '../json/equal.ts';
import { isRecord } from '../json/is-record.ts';
import { estimateJsonBytes } from '../json/measure-json.ts';
import { type CheckRun, describeValue, type Path, shorten } from './check-run.ts';
import { countCharacters } from './compile-pattern.ts';
import {
  type AllowedValues,
  type Rule,
  type SafePattern,
  TYPE_WORDS,
  type TypeWord,
} from './schema-node.ts';

const days = (year: number, month: number): number =>
  new Date(Date.UTC(year, month, 0)).getUTCDate();

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (!match) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return month >= 1 && month <= 12 && day >= 1 && day <= days(year, month);
}

const TIME =
  /^(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

const OCTET = /^(?:\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])$/;

/**
 * The formats that are checked; others are remarks, as JSON Schema has it. All
 * are linear in the text. Addresses are checked in outline only: what is a real
 * one is for the tool to decide.
 */
const FORMAT_RULES = new Map<string, (text: string) => boolean>([
  ['date', isDate],
  ['time', (text) => TIME.test(text)],
  [
    'date-time',
    (text) => /^.{10}[t ]/i.test(text) && isDate(text.slice(0, 10)) && TIME.test(text.slice(11)),
  ],
  ['uuid', (text) => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text)],
  ['email', (text) => /^[^\s@]+@[^\s@]+$/.test(text)],
  ['uri', (text) => /^[a-z][a-z0-9+.-]*:\S+$/i.test(text)],
  [
    'ipv4',
    (text) => {
      const parts = text.split('.', 5);
      return parts.length === 4 && parts.every((part) => OCTET.test(part));
    },
  ],
]);

/** True as well where the format is not one that is checked. */
export const hasFormat = (format: string, text: string): boolean =>
  FORMAT_RULES.get(format)?.(text) ?? true;

/** Characters of text that are as cheap to look at as one step. */
const CHARS_PER_STEP = 4;

export function isOfType(value: unknown, type: TypeWord): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isRecord(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

/** `enum` and `const` */
export const checkAllowed: Rule = ({ allowed }, value, path, run) => {
  if (!allowed || isAmong(allowed, value, run)) return;
  const choice = allowed.keys.size === 1 ? 'must be' : 'must be one of';
  const was = () => describeValue(value);
  run.fail(path, () => `${choice} ${allowed.text}`, was);
};

function isAmong({ keys, types }: AllowedValues, value: unknown, run: CheckRun): boolean {
  const isText = typeof value === 'string';
  if (!isText && !TYPE_WORDS.some((type) => types.has(type) && isOfType(value, type))) return false;
  const key = countedCanonical(value, run);
  return key !== undefined && keys.has(key);
}

/** Its canonical text; undefined where it takes more than is left, which is known before it is made. */
export function countedCanonical(value: unknown, run: CheckRun): string | undefined {
  const bytes = estimateJsonBytes(value, run.stepsLeft * CHARS_PER_STEP);
  // The names of an object are sorted, which costs more than to go over a text.
  const isContainer = typeof value === 'object' && value !== null;
  const steps = bytes / (isContainer ? CHARS_PER_STEP / 2 : CHARS_PER_STEP);
  return run.spend(steps) ? canonicalJson(value) : undefined;
}

/** The bounds of a number, with the words for each. */
export const BOUNDS = [
  ['minimum', 'at least', (value: number, bound: number) => value >= bound],
  ['maximum', 'at most', (value: number, bound: number) => value <= bound],
  ['exclusiveMinimum', 'more than', (value: number, bound: number) => value > bound],
  ['exclusiveMaximum', 'less than', (value: number, bound: number) => value < bound],
  ['multipleOf', 'a multiple of', isMultiple],
] as const;

export const checkNumber: Rule = (node, value, path, run) => {
  if (typeof value !== 'number') return;
  for (const [keyword, words, holds] of BOUNDS) {
    const bound = node[keyword];
    if (bound === undefined || holds(value, bound)) continue;
    const was = () => String(value);
    return run.fail(path, () => `must be ${words} ${bound}`, was);
  }
};

/** 0.3 is a multiple of 0.1, though not in binary fractions. */
function isMultiple(value: number, step: number): boolean {
  if (Number.isInteger(value) && Number.isInteger(step)) return value % step === 0;
  const times = value / step;
  return Math.abs(times - Math.round(times)) <= 1e-9 * Math.max(1, Math.abs(times));
}

export const checkText: Rule = (node, value, path, run) => {
  if (typeof value !== 'string') return;
  const { minLength, maxLength, pattern, format } = node;
  if (minLength !== undefined || maxLength !== undefined) {
    if (!run.spend(value.length / CHARS_PER_STEP)) return;
    const count = countCharacters(value);
    if (!checkCount({ count, min: minLength, max: maxLength, of: 'characters' }, path, run)) return;
  }
  if (pattern && !testPattern(pattern, value, run)) {
    const was = () => describeValue(value);
    return run.fail(path, () => `must match ${shorten(pattern.source)}`, was);
  }
  if (format && run.spend(value.length / CHARS_PER_STEP) && !hasFormat(format, value)) {
    const was = () => describeValue(value);
    run.fail(path, () => `must be a ${format}`, was);
  }
};

interface Count {
  readonly count: number;
  readonly min: number | undefined;
  readonly max: number | undefined;
  /** They are counted, such as `items`. */
  readonly of: string;
}

export function checkCount(
  { count, min = 0, max = Infinity, of }: Count,
  path: Path | null,
  run: CheckRun,
) {
  if (count >= min && count <= max) return true;
  const bound = count < min ? `at least ${min}` : `at most ${max}`;
  run.fail(path, () => `must have ${bound} ${of}, had ${count}`);
  return false;
}

/** Tests a pattern within the budget: text length times program size is what it can cost. */
export function testPattern(pattern: SafePattern, text: string, run: CheckRun): boolean {
  return run.spend(1 + (text.length * pattern.size) / 16) && pattern.test(text);
}
