import { canonicalJson } from '../json/equal.ts';
import { isRecord } from '../json/is-record.ts';
import { estimateJsonBytes } from '../json/measure-json.ts';
import {
  type CheckRun,
  describeValue,
  fail,
  isDone,
  isExhausted,
  type Path,
  shorten,
  spend,
} from './check-run.ts';
import { countCharacters } from './compile-pattern.ts';
import {
  type AllowedValues,
  type SafePattern,
  type SchemaNode,
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

/** `type` */
export function checkType(node: SchemaNode, value: unknown, path: Path | null, run: CheckRun) {
  if (!node.types || node.types.some((type) => isOfType(value, type))) return true;
  if (isDone(run)) return false;
  return fail(run, path, `must be ${node.types.join(' or ')}`, describeValue(value));
}

/** `enum` and `const` */
export function checkAllowed(node: SchemaNode, value: unknown, path: Path | null, run: CheckRun) {
  if (!node.allowed) return true;
  if (isAmong(node.allowed, value, run)) return true;
  if (isDone(run)) return false;
  const choice = node.allowed.keys.size === 1 ? 'must be' : 'must be one of';
  return fail(run, path, `${choice} ${node.allowed.text}`, describeValue(value));
}

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
  return spend(run, steps) ? canonicalJson(value) : undefined;
}

export function checkNumber(node: SchemaNode, value: number, path: Path | null, run: CheckRun) {
  const problem = numberProblem(node, value);
  return problem === undefined || fail(run, path, `must be ${problem}`, String(value));
}

function numberProblem(node: SchemaNode, value: number): string | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = node;
  if (minimum !== undefined && value < minimum) return `at least ${minimum}`;
  if (maximum !== undefined && value > maximum) return `at most ${maximum}`;
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) {
    return `more than ${exclusiveMinimum}`;
  }
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) {
    return `less than ${exclusiveMaximum}`;
  }
  if (multipleOf !== undefined && !isMultiple(value, multipleOf))
    return `a multiple of ${multipleOf}`;
}

/** 0.3 is a multiple of 0.1, though not in binary fractions. */
function isMultiple(value: number, step: number): boolean {
  if (Number.isInteger(value) && Number.isInteger(step)) return value % step === 0;
  const times = value / step;
  return Math.abs(times - Math.round(times)) <= 1e-9 * Math.max(1, Math.abs(times));
}

function checkLength(
  { minLength = 0, maxLength = Infinity }: SchemaNode,
  value: string,
  path: Path | null,
  run: CheckRun,
): boolean {
  if (!spend(run, value.length / CHARS_PER_STEP)) return false;
  const length = countCharacters(value);
  if (length < minLength) {
    return fail(run, path, `must have at least ${minLength} characters, had ${length}`);
  }
  if (length <= maxLength) return true;
  return fail(run, path, `must have at most ${maxLength} characters, had ${length}`);
}

export function checkText(node: SchemaNode, value: string, path: Path | null, run: CheckRun) {
  const { minLength, maxLength, pattern, format } = node;
  const isBounded = minLength !== undefined || maxLength !== undefined;
  if (isBounded && !checkLength(node, value, path, run)) return false;
  if (pattern && !testPattern(pattern, value, run)) {
    if (isExhausted(run)) return false;
    return fail(run, path, `must match ${shorten(pattern.source)}`, describeValue(value));
  }
  if (format && !(spend(run, value.length / CHARS_PER_STEP) && hasFormat(format, value))) {
    return fail(run, path, `must be a ${format}`, describeValue(value));
  }
  return true;
}

/** Tests a pattern within the budget: text length times program size is what it can cost. */
export function testPattern(pattern: SafePattern, text: string, run: CheckRun): boolean {
  return spend(run, 1 + (text.length * pattern.size) / 16) && pattern.test(text);
}
