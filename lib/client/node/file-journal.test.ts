import {
  appendFileSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { tempDir } from '#lib/testing/temp-dir';
import { describeJournal, journalEntry } from '../journal.contract.ts';
import { openFileJournal } from './file-journal.ts';

let made = 0;
const newId = () => {
  made += 1;
  return `epoch-${made}`;
};

async function open(path: string, maxBytes?: number) {
  const problems: string[] = [];
  const onProblem = (message: string) => void problems.push(message);
  const journal = await openFileJournal({ path, newId, onProblem, ...(maxBytes && { maxBytes }) });
  onTestFinished(async () => {
    journal.close();
    await journal.closed;
  });
  return { journal, problems };
}

async function reopen({ journal }: Awaited<ReturnType<typeof open>>, path: string) {
  journal.close();
  await journal.closed;
  return open(path);
}

/** A journal that holds a started call, an answered one, and nothing of a third. */
async function setup() {
  const path = join(tempDir(), 'journal.log');
  const first = await open(path);
  await first.journal.put(journalEntry('started'));
  await first.journal.put(journalEntry('done', { output: 'open' }));
  await first.journal.put(journalEntry('gone'));
  await first.journal.delete('gone');
  first.journal.close();
  await first.journal.closed;
  return { path, epoch: first.journal.epoch, bytes: readFileSync(path) };
}

describeJournal('the file journal', async ({ maxBytes }) => {
  const { journal } = await open(join(tempDir(), 'journal.log'), maxBytes);
  return journal;
});

test('[CL21] opened again it knows the same, under the same epoch', async () => {
  const { path, epoch } = await setup();
  const { journal, problems } = await open(path);
  expect(journal.epoch).toBe(epoch);
  expect(await journal.entries()).toEqual([
    journalEntry('started'),
    journalEntry('done', { output: 'open' }),
  ]);
  expect(problems).toEqual([]);
});

test('[CL21] without its file it is a new one', async () => {
  const dir = tempDir();
  const first = await open(join(dir, 'a.log'));
  const second = await open(join(dir, 'b.log'));
  expect(first.journal.epoch).not.toBe(second.journal.epoch);
  expect(await second.journal.entries()).toEqual([]);
});

test('[CL21] what was put is in the file when the promise resolves, also when many come at once', async () => {
  const path = join(tempDir(), 'journal.log');
  const { journal } = await open(path);
  await Promise.all(
    Array.from({ length: 200 }, async (_, n) => {
      await journal.put(journalEntry(`tc_${n}`));
      expect(readFileSync(path, 'utf8')).toContain(`"tc_${n}"`);
    }),
  );
  expect(await journal.entries()).toHaveLength(200);
});

test('[CL22] cut at any byte it opens with what was whole, and what is put then is kept', async () => {
  const { path, epoch, bytes } = await setup();
  const header = bytes.indexOf('\n') + 1;
  for (let size = header; size <= bytes.length; size += 1) {
    writeFileSync(path, bytes.subarray(0, size));
    const cut = await open(path);
    expect(cut.journal.epoch).toBe(epoch);
    const isWhole = size === 0 || bytes[size - 1] === 0x0a;
    expect(cut.problems).toHaveLength(isWhole ? 0 : 1);
    await cut.journal.put(journalEntry('next'));
    const after = await reopen(cut, path);
    expect(after.problems).toEqual([]);
    expect((await after.journal.entries()).at(-1)?.id).toBe('next');
    after.journal.close();
    await after.journal.closed;
  }
});

test('[CL22] room that was set aside and never filled is a cut, too', async () => {
  const { path, epoch } = await setup();
  appendFileSync(path, Buffer.alloc(512));
  const { journal, problems } = await open(path);
  expect(journal.epoch).toBe(epoch);
  expect(problems).toEqual([expect.stringContaining('512 bytes was cut short')]);
});

test('[CL23] any flipped bit gives it a new epoch or changes nothing, and it never invents', async () => {
  const { path, epoch, bytes } = await setup();
  const known = new Set(['started', 'done', 'gone']);
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: bytes.length - 1 }),
      fc.integer({ min: 0, max: 7 }),
      async (at, bit) => {
        const damaged = Buffer.from(bytes);
        damaged[at] = (damaged[at] ?? 0) ^ (1 << bit);
        writeFileSync(path, damaged);
        const { journal, problems } = await open(path);
        const entries = await journal.entries();
        journal.close();
        await journal.closed;
        expect(journal.epoch).not.toBe(epoch);
        expect(problems).toEqual([expect.stringMatching(/is damaged: \d records? cannot be read/)]);
        for (const { id } of entries) expect(known).toContain(id);
      },
    ),
    { numRuns: 300 },
  );
});

test('[CL23] the new epoch stays, and what could be read with it', async () => {
  const { path, epoch, bytes } = await setup();
  const damaged = Buffer.from(bytes);
  damaged.write('#', bytes.indexOf('"started"'));
  writeFileSync(path, damaged);
  const first = await open(path);
  const ids = (await first.journal.entries()).map(({ id }) => id);
  expect(ids).toEqual(['done']);
  const second = await reopen(first, path);
  expect(second.journal.epoch).toBe(first.journal.epoch);
  expect(second.journal.epoch).not.toBe(epoch);
  expect(second.problems).toEqual([]);
  expect(await second.journal.entries()).toHaveLength(1);
});

test('[CL23] a file without its beginning is a new journal', async () => {
  const { path, epoch, bytes } = await setup();
  writeFileSync(path, bytes.subarray(bytes.indexOf('\n') + 1));
  const { journal, problems } = await open(path);
  expect(journal.epoch).not.toBe(epoch);
  expect(await journal.entries()).toHaveLength(2);
  expect(problems).toEqual([expect.stringContaining('has lost its beginning')]);
});

test('[CL24] what is out of date does not pile up in the file', async () => {
  const path = join(tempDir(), 'journal.log');
  const first = await open(path);
  await first.journal.put(journalEntry('stays'));
  const output = 'x'.repeat(100_000);
  for (let n = 0; n < 60; n += 1) {
    await first.journal.put(journalEntry(`tc_${n}`, { output }));
    await first.journal.delete(`tc_${n}`);
    expect(statSync(path).size).toBeLessThan(2_000_000);
  }
  const second = await reopen(first, path);
  expect(second.journal.epoch).toBe(first.journal.epoch);
  expect(await second.journal.entries()).toEqual([journalEntry('stays')]);
  expect(readdirSync(join(path, '..'))).toEqual(['journal.log']);
});

test('[CL24] only its owner may read it', async () => {
  const { path } = await setup();
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('[CL21] closed, it takes nothing more, and says so', async () => {
  const { journal } = await open(join(tempDir(), 'journal.log'));
  const last = journal.put(journalEntry('last'));
  journal.close();
  await last;
  await expect(journal.put(journalEntry('too late'))).rejects.toThrow('is closed');
});

test('[CL22] a file cut in its first line is a new journal', async () => {
  const { path, epoch } = await setup();
  truncateSync(path, 10);
  const { journal } = await open(path);
  expect(journal.epoch).not.toBe(epoch);
});
