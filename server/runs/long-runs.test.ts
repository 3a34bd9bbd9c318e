import { expect, test } from 'vitest';
import type { Message } from '#lib/protocol/run';
import { createTestStore } from './agent/testing/fakes.ts';
import { answering, oldMessage, oldRun, setupRuns } from './testing/setup-runs.ts';

const MIB = 1024 * 1024;
const bytesOf = (messages: readonly Message[]) => JSON.stringify(messages).length;

/** A run of so many messages, of people and of the model in turn. */
async function longRun(count: number, chars: number) {
  const store = createTestStore();
  const text = 'x'.repeat(chars);
  await store.write([
    { type: 'put_run', run: oldRun() },
    ...Array.from({ length: count }, (_, position) => ({
      type: 'put_message' as const,
      message: oldMessage({
        message_id: `old_${position}`,
        role: position % 2 === 0 ? 'user' : 'assistant',
        status: 'done',
        parts: [{ type: 'text', text }],
      }),
      position,
    })),
  ]);
  return setupRuns({ store, turn: answering(['Yes.']) });
}

const ids = (messages: readonly Message[]) => messages.map(({ message_id }) => message_id);
const idsUpTo = (count: number) => Array.from({ length: count }, (_, n) => `old_${n}`);

test.each([
  [10_000, 100],
  [300, 30_000],
])('[RU34] a run of %i messages of %i characters comes by pages of 1 MiB', async (count, chars) => {
  const { runs } = await longRun(count, chars);
  const run = await runs.get('run_old');
  if (!run) throw new Error('there is no run');
  const found = [...run.messages];
  expect(bytesOf(run.messages)).toBeLessThan(1.01 * MIB);
  let before = run.messages_left_out ?? 0;
  expect(before).toBe(count - run.messages.length);
  while (before > 0) {
    const page = await runs.messagesBefore('run_old', before);
    expect(bytesOf(page.messages)).toBeLessThan(1.01 * MIB);
    expect(page.messages.length).toBeGreaterThan(0);
    found.unshift(...page.messages);
    before = page.messages_left_out ?? 0;
  }
  expect(ids(found)).toEqual(idsUpTo(count));
});

test('[RU34] a message over 1 MiB is a page of its own', async () => {
  const { runs } = await longRun(3, 2 * MIB);
  expect(await runs.get('run_old')).toMatchObject({
    messages: [{ message_id: 'old_2' }],
    messages_left_out: 2,
  });
  expect(await runs.messagesBefore('run_old', 1)).toMatchObject({ messages: [{}] });
});

test('[RU35] a turn of a long run goes on behind its last message, and reads the newest ones', async () => {
  const { runs, store, turns, ended } = await longRun(300, 30_000);
  await runs.send('run_old', { input: 'Go on' });
  await ended('run_old');
  const [turn] = turns;
  expect(bytesOf(turn?.transcript.messages() ?? [])).toBeLessThan(4.1 * MIB);
  expect(turn?.transcript.older).toBeGreaterThan(0);
  const { messages } = await store.listMessages({ runId: 'run_old', maxChars: 100 * MIB });
  expect(ids(messages.slice(0, 300))).toEqual(idsUpTo(300));
  expect(messages.slice(300)).toMatchObject([{ role: 'user' }, { role: 'assistant' }]);
  const page = await store.listModelTurns({ runId: 'run_old', after: 0, limit: 9 });
  expect(page.turns).toMatchObject([{ turn: 151 }]);
});

test('[RU35] a run that goes on drops from memory what has no room any more', async () => {
  const { runs, store, turns } = await longRun(2, 10);
  const input = 'y'.repeat(200_000);
  for (let n = 0; n < 40; n += 1) {
    await runs.send('run_old', { input });
    await expect.poll(async () => (await runs.get('run_old'))?.status).toBe('idle');
  }
  expect(bytesOf(turns.at(-1)?.transcript.messages() ?? [])).toBeLessThan(4.5 * MIB);
  const page = await store.listModelTurns({ runId: 'run_old', after: 39, limit: 9 });
  expect(page.turns).toMatchObject([{ turn: 41 }]);
});
