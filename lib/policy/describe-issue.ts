import type { z } from 'zod';
import { describeValue } from '../schema/describe-value.ts';

/** The first issue of a failed parse with `reportInput`, in one line: where, what was found, what would be right. */
export function describeIssue(error: z.ZodError, whole: string): string {
  const [issue] = error.issues;
  if (issue === undefined) return `${whole} is not valid`;
  const path = issue.path.map(String).join('.') || whole;
  const found = 'input' in issue ? ` is ${describeValue(issue.input)}:` : '';
  return `${path}${found} ${rightOf(issue)}`;
}

function rightOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `it must be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `it may be ${issue.values.map((one) => JSON.stringify(one)).join(', ')}`;
    case 'too_small':
      return `it must have at least ${issue.minimum}`;
    case 'too_big':
      return `it may have at most ${issue.maximum}`;
    default:
      return issue.message;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  number: 'a number',
  int: 'a whole number',
  object: 'an object',
  record: 'an object',
  string: 'a text',
};
