import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { tempDir } from '#lib/testing/temp-dir';
import { describeJournal, journalEntry } from '../journal.contract.ts';
import { openSqliteJournal } from './sqlite-journal.ts';

let made = 0;
const newId = () => {
  made += 1;
  return `epoch-${made}`;
};

function open(path: string, maxBytes?: number) {
  const problems: string[] = [];
  const onProblem = (message: string) => void problems.push(message);
  const journal = openSqliteJournal({ path, newId, onProblem, ...(maxBytes && { maxBytes }) });
  onTestFinished(() => journal.close());
  return { journal, problems };
}

const inNewDir = () => join(tempDir(), 'journal.db');

/** A journal that holds a started call, an answered one, and nothing of a third. */
async function setup() {
  const path = inNewDir();
  const { journal } = open(path);
  await journal.put(journalEntry('started'));
  await journal.put(journalEntry('done', { output: 'open' }));
  await journal.put(journalEntry('gone'));
  await journal.delete('gone');
  const wal = readFileSync(`${path}-wal`);
  journal.close();
  return { path, epoch: journal.epoch, wal };
}

const KEPT = [journalEntry('started'), journalEntry('done', { output: 'open' })];

describeJournal(
  'the journal of a program',
  async ({ maxBytes }) => open(inNewDir(), maxBytes).journal,
);

test('[CL21] opened again it knows the same, under the same epoch', async () => {
  const { path, epoch } = await setup();
  const { journal, problems } = open(path);
  expect(journal.epoch).toBe(epoch);
  expect(await journal.entries()).toEqual(KEPT);
  expect(problems).toEqual([]);
});

test('[CL21] what was put is on disk when the promise resolves, also when many come at once', async () => {
  const path = inNewDir();
  const { journal } = open(path);
  await Promise.all(
    Array.from({ length: 200 }, async (_, n) => {
      await journal.put(journalEntry(`tc_${n}`));
      expect(readFileSync(`${path}-wal`, 'utf8')).toContain(`"tc_${n}"`);
    }),
  );
  expect(await journal.entries()).toHaveLength(200);
});

test('[CL22] cut at any byte it opens with what was whole, and what is put then is kept', async () => {
  const { wal } = await setup();
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: wal.length }), async (size) => {
      const path = inNewDir();
      writeFileSync(path, '');
      writeFileSync(`${path}-wal`, wal.subarray(0, size));
      const { journal, problems } = open(path);
      const ids = (await journal.entries()).map(({ id }) => id);
      expect(['started', 'done', 'gone'].slice(0, ids.length)).toEqual(ids);
      await journal.put(journalEntry('next'));
      journal.close();
      expect((await open(path).journal.entries()).at(-1)?.id).toBe('next');
      expect(problems).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

test('[CL23] any flipped bit gives it a new epoch or changes nothing, and it never invents', async () => {
  const { path: whole, epoch } = await setup();
  const bytes = readFileSync(whole);
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: bytes.length - 1 }),
      fc.integer({ min: 0, max: 7 }),
      async (at, bit) => {
        const damaged = Buffer.from(bytes);
        damaged[at] = (damaged[at] ?? 0) ^ (1 << bit);
        const path = inNewDir();
        writeFileSync(path, damaged);
        const { journal, problems } = open(path);
        const entries = await journal.entries();
        if (journal.epoch === epoch || entries.length > 0) expect(entries).toEqual(KEPT);
        else expect(problems).toEqual([expect.stringContaining('is damaged')]);
      },
    ),
    { numRuns: 400 },
  );
});

test('[CL23] the new epoch stays, and the damaged file lies aside', async () => {
  const { path, epoch } = await setup();
  const damaged = readFileSync(path);
  damaged.write('#', damaged.indexOf('"started"'));
  writeFileSync(path, damaged);
  const first = open(path);
  first.journal.close();
  const second = open(path);
  expect(second.journal.epoch).toBe(first.journal.epoch);
  expect(second.journal.epoch).not.toBe(epoch);
  expect(second.problems).toEqual([]);
  expect(readFileSync(`${path}.damaged`, 'utf8')).toContain('#started"');
});

test('[CL24] what is out of date does not pile up on disk', async () => {
  const path = inNewDir();
  const { journal } = open(path);
  await journal.put(journalEntry('stays'));
  const output = 'x'.repeat(100_000);
  for (let n = 0; n < 100; n += 1) {
    await journal.put(journalEntry(`tc_${n}`, { output }));
    await journal.delete(`tc_${n}`);
    expect(statSync(path).size + statSync(`${path}-wal`).size).toBeLessThan(2_000_000);
  }
  journal.close();
  expect(statSync(path).size).toBeLessThan(200_000);
  expect(await open(path).journal.entries()).toEqual([journalEntry('stays')]);
});

test('[CL24] only its owner may read it', async () => {
  const path = inNewDir();
  open(path);
  const modes = readdirSync(dirname(path)).map((name) => statSync(join(path, '..', name)).mode);
  expect(modes.map((mode) => mode & 0o777)).toEqual([0o600, 0o600]);
});

test('[CL21] closed, it takes nothing more, and says so', async () => {
  const path = inNewDir();
  const { journal } = open(path);
  const last = journal.put(journalEntry('last'));
  journal.close();
  await last;
  await expect(journal.put(journalEntry('too late'))).rejects.toThrow('is closed');
  expect(await open(path).journal.entries()).toEqual([journalEntry('last')]);
});

/** A real full disk of its own needs a mount; a limit on a file's size gives short writes all the same. */
test.skipIf(process.platform === 'win32')(
  '[CL25] a write that does not fit is refused, and those before and after it are whole',
  async () => {
    const path = inNewDir();
    const module = JSON.stringify(join(import.meta.dirname, 'sqlite-journal.ts'));
    const program = `
      const { openSqliteJournal } = await import(${module});
      process.on('SIGXFSZ', () => {});
      const entry = (id, output) => ({ id, attempt: 1, tool: 't', repeatable: false, answer: { type: 'tool_result', id, output } });
      const journal = openSqliteJournal({ path: ${JSON.stringify(path)}, newId: () => 'e', onProblem: console.error });
      await journal.put(entry('first', 1));
      const refused = await journal.put(entry('large', 'x'.repeat(900_000))).then(() => 'taken', () => 'refused');
      await journal.put(entry('second', 2));
      console.log(refused);
      process.kill(process.pid, 'SIGKILL');`;
    const command = 'ulimit -f 400; exec "$0" --input-type=module -e "$1"';
    const child = spawn('sh', ['-c', command, process.execPath, program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [sent] = await once(child.stdout, 'data');
    await once(child, 'exit');
    expect(String(sent).trim()).toBe('refused');
    const ids = (await open(path).journal.entries()).map(({ id }) => id);
    expect(ids).toEqual(['first', 'second']);
  },
);
