import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { changed, finalCall, sampleCall } from '#lib/call/testing/sample-call';
import { tempDir } from '#lib/testing/temp-dir';
import type { Store } from './sqlite-store.ts';
import { createSqliteStore } from './sqlite-store.ts';
import { describeStore } from './store.contract.ts';
import { RowDamagedError, StoreDamagedError, StoreFailedError } from './store-errors.ts';
import { createStoreOnThisThread } from './testing/store-on-this-thread.ts';
import { appendCall } from './testing/store-setup.ts';

const STORES = {
  'the store in SQLite': createSqliteStore,
  'the store for tests of others': createStoreOnThisThread,
};

for (const [name, create] of Object.entries(STORES)) {
  describeStore(name, () => {
    const dir = mkdtempSync(join(tmpdir(), 'store-'));
    const file = join(dir, 'callboard.db');
    return {
      open: () => create({ file }),
      failOnRun(runId) {
        // Another connection plants a trigger: the store then meets a real error of a real write.
        const other = new DatabaseSync(file);
        other.exec(`CREATE TRIGGER fail BEFORE INSERT ON runs WHEN new.run_id = '${runId}'
          BEGIN SELECT RAISE(FAIL, 'planted'); END`);
        other.close();
      },
      remove: () => rm(dir, { recursive: true }),
    };
  });
}

function setup() {
  const dir = tempDir();
  const open = (options: Partial<Parameters<typeof createSqliteStore>[0]> = {}): Store => {
    const store = createSqliteStore({ file: join(dir, 'a.db'), ...options });
    onTestFinished(() => store.close());
    return store;
  };
  return { dir, file: join(dir, 'a.db'), open };
}

/** Runs the writer and tells what it printed, line by line. */
function startWriter(command: string, args: readonly string[], onLine: (count: number) => void) {
  const child: ChildProcess = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  if (!child.stdout) throw new Error('the writer has no output');
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => onLine(lines.push(line)));
  return { child, ended: Promise.all([once(reader, 'close'), once(child, 'exit')]), lines };
}

const writer = join(import.meta.dirname, 'testing/write-until-killed.ts');
const RANK = ['PENDING', 'RUNNING', 'SUCCEEDED'];

/** Each call has at least the state that was printed, and may have got one further. */
async function expectAllThere(store: Store, lines: readonly string[]) {
  const logged = new Map(lines.map((line) => line.split(' ', 2) as [string, string]));
  for (const [id, status] of logged) {
    const call = await store.getCall(id);
    expect(RANK.indexOf(call?.status ?? 'none')).toBeGreaterThanOrEqual(RANK.indexOf(status));
  }
  return logged.size;
}

test('[ST1] every write that was told to be done is there after SIGKILL', async () => {
  const { file, open } = setup();
  const { child, ended, lines } = startWriter(process.execPath, [writer, file], (count) => {
    if (count === 1_000) child.kill('SIGKILL');
  });
  await ended;
  expect(child.signalCode).toBe('SIGKILL');
  expect(await expectAllThere(open(), lines)).toBeGreaterThan(300);
});

test('[ST1] [ST5] a disk with no room fails the store, and what was told to be done is there', async () => {
  const { file, open } = setup();
  // A limit on the size of files is the part of a full disk that needs no disk.
  const limited = `ulimit -f 4096; exec "${process.execPath}" "${writer}" "${file}" 20000`;
  const { child, ended, lines } = startWriter('/bin/sh', ['-c', limited], () => {});
  await ended;
  expect(child.exitCode).toBe(0);
  expect(lines.pop()).toBe('StoreFailedError failed=true');
  expect(await expectAllThere(open(), lines)).toBeGreaterThan(10);
});

test('[ST2] what is not committed yet is not read, and one commit holds a moment', async () => {
  const { file, open } = setup();
  const flushes: (() => void)[] = [];
  const store = open({ schedule: (flush) => flushes.push(flush) });
  const other = new DatabaseSync(file, { readOnly: true });
  onTestFinished(() => other.close());
  const count = () => other.prepare('SELECT count(*) AS n FROM log').get()?.n;
  const version = () => other.prepare('PRAGMA data_version').get()?.data_version;
  const before = Number(version());
  const writes = ['a', 'b', 'c'].map((id) => store.write([appendCall(sampleCall({ id }))]));
  expect(flushes).toHaveLength(1);
  expect(await store.getCall('a')).toBeUndefined();
  flushes[0]?.();
  await Promise.all(writes);
  expect(count()).toBe(3);
  expect(version()).toBe(before + 1);
});

test('[ST5] of commits that were asked for at once, those after one that failed are not made', async () => {
  const { file, open } = setup();
  const store = open({ schedule: () => {} });
  const other = new DatabaseSync(file);
  onTestFinished(() => other.close());
  other.exec(`CREATE TRIGGER fail BEFORE INSERT ON log WHEN new.call_id = 'tc_3'
    BEGIN SELECT RAISE(FAIL, 'planted'); END`);
  const writes = Array.from({ length: 128 }, (_, n) =>
    store.write([appendCall(sampleCall({ id: `tc_${n}` }))]),
  );
  const states = (await Promise.allSettled(writes)).map(({ status }) => status);
  expect(states).toEqual(Array(128).fill('rejected'));
  expect(other.prepare('SELECT count(*) AS n FROM log').get()).toEqual({ n: 0 });
});

test('[ST4] what one commit has of a call is one row of the log, in the place of the first', async () => {
  const { file, open } = setup();
  const flushes: (() => void)[] = [];
  const store = open({ schedule: (flush) => flushes.push(flush) });
  const other = new DatabaseSync(file, { readOnly: true });
  onTestFinished(() => other.close());
  const queued = sampleCall();
  const corrected = changed(queued, { version: 2, args: { text: 'other' } });
  const ended = changed(corrected, { version: 3, status: 'SUCCEEDED', phase: null });
  const between = sampleCall({ id: 'tc_2' });
  const writes = [[queued, corrected], [between], [ended]].map((states) =>
    store.write(states.map((state) => appendCall(state))),
  );
  flushes[0]?.();
  await Promise.all(writes);
  expect(other.prepare('SELECT seq, call_id, version, ends FROM log').all()).toEqual([
    { seq: 1, call_id: 'tc_1', version: 1, ends: 1 },
    { seq: 2, call_id: 'tc_2', version: 1, ends: 0 },
  ]);
  expect(await store.getCall(queued.id)).toEqual(ended);
  const events = await store.callEvents(queued.id, { after: 0, limit: 9 });
  expect(events.map(({ version }) => version)).toEqual([1, 2, 3]);
});

/** Without a moment between a write and the indexing that it asks for. */
const soon = (work: () => void) => {
  const timer = setImmediate(work);
  return () => clearImmediate(timer);
};

test('[ST15] words are indexed while calls are written, without a pause or a search', async () => {
  const { file, open } = setup();
  const store = open({ scheduleIndexing: soon });
  const other = new DatabaseSync(file, { readOnly: true });
  onTestFinished(() => other.close());
  const waiting = other.prepare(`SELECT 1 FROM log WHERE call_id LIKE 'tc_first_%'
    AND call_id NOT IN (SELECT id FROM calls)`);
  const put = (id: string) => appendCall(finalCall({ id }));
  await store.write(Array.from({ length: 150 }, (_, index) => put(`tc_first_${index}`)));
  let more = 0;
  do await store.write([put(`tc_more_${more++}`)]);
  while (waiting.get() !== undefined);
  const { calls } = await store.listCalls({ limit: 200, text: 'hi' });
  expect(calls).toHaveLength(Math.min(200, 150 + more));
});

test('[ST5] a store that failed answers searches, and writes no words for them', async () => {
  const { file, open } = setup();
  const store = open({ scheduleIndexing: () => () => {} });
  await store.write([appendCall(finalCall())]);
  const other = new DatabaseSync(file);
  onTestFinished(() => other.close());
  other.exec(
    "CREATE TRIGGER fail BEFORE DELETE ON sessions BEGIN SELECT RAISE(FAIL, 'planted'); END",
  );
  other.exec("INSERT INTO sessions VALUES ('s', 1, 2, 3, NULL)");
  await expect(store.write([{ type: 'delete_session', idHash: 's' }])).rejects.toThrow(/planted/);
  expect((await store.listCalls({ limit: 1, text: 'hi' })).calls).toEqual([]);
  expect((await store.listCalls({ limit: 1 })).calls).toHaveLength(1);
  expect(other.prepare('SELECT count(*) AS n FROM calls').get()).toEqual({ n: 0 });
});

test('[ST22] a damaged page is found before anything is read', async () => {
  const { file, open } = setup();
  const store = open();
  const calls = Array.from({ length: 200 }, (_, index) =>
    sampleCall({ id: `tc_${index}`, args: { text: 'x'.repeat(1_000) } }),
  );
  await store.write(calls.map((call) => appendCall(call)));
  await store.close();
  const handle = openSync(file, 'r+');
  // One page of many, which nothing reads at a start.
  writeSync(handle, Buffer.alloc(4_096, 0xa5), 0, undefined, statSync(file).size - 5 * 4_096);
  closeSync(handle);
  expect(open).toThrow(StoreDamagedError);
  expect(open).toThrow(`the database ${file} is damaged: `);
});

test('[ST30] [ST44] a row that was damaged while the server runs is not shown, and its neighbour is', async () => {
  const { file, open } = setup();
  const store = open();
  const calls = ['tc_1', 'tc_2'].map((id) => sampleCall({ id }));
  await store.write(calls.map((call) => appendCall(call)));
  const other = new DatabaseSync(file);
  onTestFinished(() => other.close());
  other.exec("UPDATE log SET events = replace(events, 'hi', 'ho') WHERE call_id = 'tc_1'");
  await expect(store.getCall('tc_1')).rejects.toThrow(RowDamagedError);
  await expect(store.getCall('tc_1')).rejects.toThrow('the row tc_1 1 of log is damaged');
  await expect(store.listCalls({ limit: 2 })).rejects.toThrow(RowDamagedError);
  const query = { after: 0, limit: 9 };
  await expect(store.callEvents('tc_1', query)).rejects.toThrow(RowDamagedError);
  expect(await store.callEvents('tc_2', query)).toHaveLength(1);
  expect(await store.getCall('tc_2')).toEqual(calls[1]);
  await store.close();
  expect(open).toThrow(/: the row tc_1 1 of log is not what was written; start with --salvage/);
});

test('[ST30] texts that are no texts of Unicode are no damage', async () => {
  const { open } = setup();
  const store = open();
  const call = sampleCall({
    toolName: 'a\ud800b\u0000c',
    deadlines: { executeLeftMs: 0.1 },
    timeoutMs: 1e15,
  });
  await store.write([appendCall(call)]);
  await store.close();
  expect(await open().getCall(call.id)).toEqual(call);
});

test('[ST27] a start clears what a torn end left, so that nothing of it lies behind newer writes', async () => {
  const { file, open } = setup();
  const names = [file, `${file}-wal`, `${file}.mark`] as const;
  const put = (id: string, text: string) => appendCall(sampleCall({ id, args: { text } }));
  const store = open();
  await store.write([put('tc_1', 'short')]);
  const before = names.map((name) => readFileSync(name));
  await store.write([put('tc_2', 'long'.repeat(20_000))]);
  const longer = readFileSync(`${file}-wal`);
  await store.close();
  const place = (at: string, [database, log, mark]: readonly Buffer[]) => {
    writeFileSync(at, database ?? '');
    writeFileSync(`${at}-wal`, log ?? '');
    writeFileSync(`${at}.mark`, mark ?? '');
  };
  place(file, before.with(1, longer.subarray(0, longer.length - 100)));
  const notes: string[] = [];
  const log = (note: string) => notes.push(note);
  await open({ log }).write([put('tc_3', 'short')]);
  expect(notes).toEqual([expect.stringMatching(/in the middle of a write .*; dropped \d+ frames/)]);

  // As a server that is killed now leaves it.
  const killed = `${file}.killed`;
  place(
    killed,
    names.map((name) => readFileSync(name)),
  );
  const next = open({ file: killed, log });
  expect(notes).toHaveLength(1);
  expect((await next.openCalls()).map(({ id }) => id)).toEqual(['tc_1', 'tc_3']);
});

test('[ST35] a failed write is told once', async () => {
  const { file, open } = setup();
  const logged: Error[] = [];
  const store = open({ onFailed: (error) => logged.push(error) });
  const other = new DatabaseSync(file);
  onTestFinished(() => other.close());
  other.exec("CREATE TRIGGER fail BEFORE INSERT ON log BEGIN SELECT RAISE(FAIL, 'planted'); END");
  const put = () => store.write([appendCall(sampleCall())]);
  await expect(put()).rejects.toThrow(/planted/);
  await expect(put()).rejects.toThrow(/planted/);
  expect(logged).toEqual([expect.any(StoreFailedError)]);
});

test('[ST25] the files are readable by their owner alone', async () => {
  const { dir, open } = setup();
  await open().write([appendCall(sampleCall())]);
  const modes = readdirSync(dir).map((name) => [name, statSync(join(dir, name)).mode & 0o777]);
  expect(Object.fromEntries(modes)).toEqual({
    'a.db': 0o600,
    'a.db-shm': 0o600,
    'a.db-wal': 0o600,
    'a.db.mark': 0o600,
  });
});
