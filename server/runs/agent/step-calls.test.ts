import { expect, test } from 'vitest';
import { echo, gate, inOrder, partsOf, setupTurns } from './testing/setup-turns.ts';

test('[AL6] a draft that is made while the turn ends is given up, and in no message', async () => {
  const script = inOrder({ calls: [{ name: 'demo_echo', args: { text: 'x' } }] });
  const { start, runs, calls } = await setupTurns({ script, tools: [echo] });
  const [asked, made] = [gate(), gate()];
  const draft = calls.draft.bind(calls);
  calls.draft = async (request) => {
    asked.resolve();
    await made.promise;
    return draft(request);
  };
  const runId = await start('go');
  await asked.promise;
  await runs.cancel(runId);
  made.resolve();
  await expect.poll(() => calls.records.get('tc_1')?.status).toBe('FAILED');
  const run = await runs.get(runId);
  expect(run && partsOf(run).map(({ type }) => type)).toEqual(['text', 'notice']);
});
