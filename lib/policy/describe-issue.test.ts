import { expect, test } from 'vitest';
import { z } from 'zod';
import { describeIssue } from './describe-issue.ts';

const schema = z.object({
  target: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('slack') }),
    z.object({ kind: z.literal('ntfy') }),
  ]),
});

const problemOf = (value: unknown): string => {
  const { error } = schema.safeParse(value, { reportInput: true });
  return error ? describeIssue(error, 'the file') : 'none';
};

test('of an object that is known by its kind a wrong one is shown, not the object', () => {
  expect(problemOf({ target: { kind: 'mail' } })).toMatch(/^target\.kind is the text "mail":/);
  expect(problemOf({ target: {} })).toMatch(/^target\.kind is missing:/);
});
