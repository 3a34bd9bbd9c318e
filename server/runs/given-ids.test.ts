import { expect, test } from 'vitest';
import { createTestStore } from './agent/testing/fakes.ts';
import { answering, setupRuns, untilStopped } from './testing/setup-runs.ts';

const textsOf = (messages: readonly { parts: readonly object[] }[] = []) =>
  messages.flatMap(({ parts }) => parts.flatMap((part) => ('text' in part ? [part.text] : [])));

test('[RU45] a message with the id of one that is there is not sent again: idle, at once, and while a turn runs', async () => {
  const { start, runs, ended, turns } = setupRuns({ turn: answering(['Yes']) });
  const { run_id } = await start();
  await ended(run_id);
  const two = { input: 'Two', givenId: 'theirs' };
  const outcomes = await Promise.all([runs.send(run_id, two), runs.send(run_id, two)]);
  expect(outcomes).toMatchObject([{ ok: true }, { ok: true }]);
  await expect.poll(async () => (await runs.get(run_id))?.status).toBe('idle');
  expect(await runs.send(run_id, two)).toMatchObject({ ok: true, run: { status: 'idle' } });
  expect(turns).toHaveLength(2);
  expect(textsOf((await runs.get(run_id))?.messages)).toEqual(['Hello', 'Yes', 'Two', 'Yes']);
});

test('[RU45] the id is there after a restart', async () => {
  const store = createTestStore();
  const before = setupRuns({ store, turn: untilStopped });
  const { run_id } = await before.start();
  await before.runs.send(run_id, { input: 'Two', givenId: 'theirs' });
  await before.runs.close();
  const { runs } = setupRuns({ store, turn: untilStopped });
  const outcome = await runs.send(run_id, { input: 'Other words', givenId: 'theirs' });
  expect(textsOf(outcome.ok ? outcome.run.messages : [])).toEqual(['Hello', 'Two']);
});
