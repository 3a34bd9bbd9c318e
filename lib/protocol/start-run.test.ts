import { expect, test } from 'vitest';
import { startRunBodySchema, TOOLS_PER_RUN } from './rest.ts';

const names = (count: number) => Array.from({ length: count }, (_, at) => `tool_${at}`);
const problemsOf = (tools: unknown) =>
  startRunBodySchema
    .safeParse({ input: 'hi', tools })
    .error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);

test('[RU44] a run names as many tools as it may, and no more', () => {
  expect(problemsOf(names(TOOLS_PER_RUN))).toBeUndefined();
  expect(problemsOf(names(TOOLS_PER_RUN + 1))).toEqual([
    'tools: at most 512 names; left out, the run may use all tools',
  ]);
});

test('[RU44] what can be the name of no tool is refused, and so is a name twice', () => {
  expect(problemsOf(['mail.send', 'x'.repeat(65)])).toEqual([
    expect.stringMatching(/^tools\.1: must be the name of a tool: at most 64 /),
  ]);
  expect(problemsOf(['pay', 'pay'])).toEqual(['tools: each name once']);
});
