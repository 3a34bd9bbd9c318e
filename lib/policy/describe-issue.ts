import type { z } from 'zod';
import { isRecord } from '../json/is-record.ts';
import { describeValue } from '../schema/check-run.ts';

/** The first issue of a failed parse with `reportInput`, in one line: where, what was found, what would be right. */
export function describeIssue(error: z.ZodError, whole: string): string {
  const [issue] = error.issues;
  if (issue === undefined) return `${whole} is not valid`;
  const path = issue.path.map(String).join('.') || whole;
  const found = 'input' in issue ? ` is ${describeValue(foundBy(issue))}:` : '';
  return `${path}${found} ${rightOf(issue)}`;
}

/** Objects that are known by one key have the issue at that key, and the whole object as its input. */
function foundBy(issue: z.core.$ZodIssue): unknown {
  if (issue.code !== 'invalid_union' || issue.discriminator === undefined) return issue.input;
  return isRecord(issue.input) ? issue.input[issue.discriminator] : issue.input;
}

function rightOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `it must be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `it must be ${issue.values.map((one) => JSON.stringify(one)).join(' or ')}`;
    case 'too_small':
      return describeBound(issue.origin, 'at least', issue.minimum);
    case 'too_big':
      return describeBound(issue.origin, 'at most', issue.maximum);
    case 'invalid_key':
      return `this name cannot be used: it ${issue.issues[0]?.message ?? 'is not valid'}`;
    default:
      return issue.message.replace(/^must /, 'it must ');
  }
}

function describeBound(origin: string, words: string, bound: number | bigint): string {
  const unit = UNITS[origin];
  return unit === undefined
    ? `it must be ${words} ${bound}`
    : `it must have ${words} ${bound} ${unit}`;
}

const UNITS: Readonly<Record<string, string>> = {
  array: 'in the list',
  string: 'characters',
};

const TYPES: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  number: 'a number',
  int: 'a whole number',
  object: 'an object',
  record: 'an object',
  string: 'a text',
};
