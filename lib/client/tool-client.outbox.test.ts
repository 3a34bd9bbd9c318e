import { expect, test } from 'vitest';
import { LIMITS } from '../protocol/limits.ts';
import { journalEntry } from './journal.contract.ts';
import { createMemoryJournal } from './journal.ts';
import { setupCalls } from './testing/setup-calls.ts';
import { callTool, createHeldTool } from './testing/setup-client.ts';

const many = (count: number) => Array.from({ length: count }, (_, at) => `tc_${at}`);

/** A client that was away for long, with so many answers that nobody has acknowledged. */
async function comeBackWith(count: number) {
  const journal = createMemoryJournal({ epoch: 'e' });
  for (const id of many(count)) await journal.put(journalEntry(id, { output: id }));
  const rig = await setupCalls(createHeldTool(), { openJournal: async () => journal });
  return { ...rig, journal };
}

test('[CL34] a hello tells as many calls as the server takes, and what runs among them', async () => {
  const { link, tool, hello, ...rig } = await comeBackWith(LIMITS.knownCalls);
  expect(hello).toMatchObject({ journal_epoch: 'e' });
  expect(hello.known).toHaveLength(LIMITS.knownCalls);
  await callTool(link, 'running');
  await link.settled();
  expect(tool.started).toEqual(['running']);
  const { hello: next } = await rig.reconnect(link);
  const known = new Set(next.known?.map(({ id }) => id));
  expect(known.size).toBe(LIMITS.knownCalls);
  expect([known.has('running'), known.has('tc_0'), known.has('tc_1')]).toEqual([true, false, true]);
  // What is left out must not pass for a call that never started.
  expect(next.journal_epoch).toBeUndefined();
});

test('[CL7] an answer that the journal is still being told of is not sent by a new connection', async () => {
  const journal = createMemoryJournal({ epoch: 'e' });
  const disk = Promise.withResolvers<void>();
  const writing = Promise.withResolvers<void>();
  const rig = await setupCalls(createHeldTool(), {
    openJournal: async () => ({
      ...journal,
      async put(entry) {
        if (entry.answer) {
          writing.resolve();
          await disk.promise;
        }
        await journal.put(entry);
      },
    }),
  });
  await callTool(rig.link, 'tc_1');
  rig.tool.end('tc_1', 'open');
  await writing.promise;
  const { back } = await rig.reconnect(rig.link);
  expect((await back.settled()).map(({ type }) => type)).not.toContain('tool_result');
  disk.resolve();
  expect(await back.next('tool_result')).toMatchObject({ id: 'tc_1', output: 'open' });
});
