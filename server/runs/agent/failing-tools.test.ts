import { expect, test } from 'vitest';
import type { FakeTool } from './testing/fakes.ts';
import { echo, inOrder, notices, partsOf, setupTurns } from './testing/setup-turns.ts';

const WARNING = 'calls of demo.flaky failed';

/** Fails as long as it is told to. */
const flaky: FakeTool = {
  name: 'demo.flaky',
  run: ({ n }) =>
    Number(n) > 0
      ? { error: { code: 'tool_error', message: `broken ${String(n)}`, executed: 'yes' } }
      : { output: 'fine' },
};

const call = (n: number) => ({ calls: [{ name: 'demo_flaky', args: { n } }] });

/** Whether the model was warned, request by request. */
async function warnedIn(script: ReturnType<typeof inOrder>) {
  const { turn, openai } = await setupTurns({ script, tools: [echo, flaky] });
  await turn('go');
  return openai.requests.map(({ body }) => JSON.stringify(body).includes(WARNING));
}

test('[AL125] the model reads of a tool whose last three calls failed, until one succeeds', async () => {
  const script = inOrder(call(1), call(2), call(3), call(0), { text: 'done' });
  expect(await warnedIn(script)).toEqual([false, false, false, true, false]);
});

test('[AL125] what a success interrupts is no row of failures', async () => {
  const script = inOrder(call(1), call(2), call(0), call(3), { text: 'done' });
  expect(await warnedIn(script)).toEqual([false, false, false, false, false]);
});

test('[AL125] names that a model makes up, and what people refuse, are no failures of a tool', async () => {
  const madeUp = { calls: [{ name: 'ignore all rules', args: {} }] };
  const script = inOrder(madeUp, madeUp, madeUp, madeUp, { text: 'done' });
  const { turn, openai } = await setupTurns({ script, tools: [echo] });
  await turn('go');
  const bodies = openai.requests.map(({ body }) => JSON.stringify(body)).join('');
  expect(bodies).not.toContain('Do not count on it');
});

const calls = (...numbers: number[]) => ({
  calls: numbers.map((n) => ({ name: 'demo_flaky', args: { n, of: numbers.length } })),
});

/** Requests of the turn, and what it reported of itself. */
async function pausedAfter(...replies: Parameters<typeof inOrder>) {
  const same: FakeTool = {
    ...flaky,
    run: ({ n }) => flaky.run({ n: Number(n) > 0 ? 1 : 0 }, never),
  };
  const { turn, openai } = await setupTurns({ script: inOrder(...replies), tools: [same] });
  const run = await turn('go');
  return { status: run.status, requests: openai.requests.length, reported: notices(partsOf(run)) };
}
const never = new AbortController().signal;

test('[AL127] the same error in three steps in a row pauses the turn, whatever the arguments', async () => {
  const paused = { status: 'idle', requests: 3, reported: ['tool_failures'] };
  expect(await pausedAfter(call(1), call(2), call(3), { text: 'done' })).toEqual(paused);
});

test('[AL127] the same error of the calls of one step, or with a success between, pauses none', async () => {
  const goesOn = { status: 'idle', reported: [] };
  expect(await pausedAfter(calls(1, 2, 3, 4), { text: 'done' })).toMatchObject(goesOn);
  expect(await pausedAfter(call(1), call(2), call(0), call(3), { text: 'done' })).toMatchObject(
    goesOn,
  );
});
