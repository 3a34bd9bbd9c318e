import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { finalCall, sampleCall } from '#lib/call/testing/sample-call';
import { tempDir } from '#lib/testing/temp-dir';
import { bundledWorker } from '../testing/bundled-worker.ts';
import { throwingLogger } from '../testing/error-log.ts';
import { markCleanEnd, openStore } from './open-store.ts';
import { createSqliteStore } from './sqlite-store.ts';
import { RowDamagedError, StoreDamagedError } from './store-errors.ts';
import { appendCall, putRun, sampleRun } from './testing/store-setup.ts';

function setup() {
  const dir = tempDir();
  const file = join(dir, 'callboard.db');
  const open = (at = file) => {
    const opened = openStore({
      file: at,
      salvage: false,
      now: Date.now,
      workerPath: (name) => bundledWorker(`${name}.mjs`),
      logger: throwingLogger,
      onFailed() {},
    });
    onTestFinished(() => opened.close());
    return opened;
  };
  return { dir, file, open };
}

const WORDS = 'what was written';

/** A server that wrote one call, and ended as it should. */
async function written({ open }: ReturnType<typeof setup>): Promise<void> {
  const { store, close } = open();
  await store.write([appendCall(finalCall({ version: 1, args: { text: WORDS } }))]);
  await store.toolUse.recent({ limit: 1 }); // Lists are made from it.
  await close();
}

/** The row as nobody wrote it. */
function damage(file: string): void {
  const bytes = readFileSync(file);
  bytes.write('WHAT', bytes.indexOf(`${WORDS}"`), 'latin1');
  writeFileSync(file, bytes);
}

test('[ST60] after a clean end a start reads no rows; damage is found while the store is in use', async () => {
  const parts = setup();
  await written(parts);
  damage(parts.file);
  await markCleanEnd(parts.file); // The disk changed it, and no time of the file tells.
  const opened = parts.open();
  const found = await new Promise<StoreDamagedError>((onDamaged) => opened.checkLater(onDamaged));
  expect(found).toBeInstanceOf(StoreDamagedError);
  expect(found.message).toContain('the row tc_1 1 of log is not what was written');
  await opened.close();
  expect(() => parts.open()).toThrow(StoreDamagedError);
});

test('[ST86] what a rebuild that was ended by force has left is gone with the next start', () => {
  const { file, open } = setup();
  writeFileSync(`${file}.rebuilt`, 'half of a store');
  open();
  expect(existsSync(`${file}.rebuilt`)).toBe(false);
});

test('[ST60] [ST87] a damaged row of a call that is in no list yet costs that call alone, until it is found', async () => {
  const parts = setup();
  const { store, close } = parts.open();
  const call = finalCall({ args: { text: WORDS } });
  await store.write([appendCall(call), appendCall(finalCall({ id: 'tc_2' }))]);
  await close();
  damage(parts.file);
  await markCleanEnd(parts.file);
  const opened = parts.open();
  const { calls } = await opened.store.listCalls({ limit: 9 });
  expect(calls.map(({ id }) => id)).toEqual(['tc_2']);
  await expect(opened.store.getCall('tc_1')).rejects.toThrow(RowDamagedError);
  const found = await new Promise<StoreDamagedError>((onDamaged) => opened.checkLater(onDamaged));
  expect(found.message).toContain('the row tc_1 1 of log is not what was written');
});

test('[ST60] a file that was changed after a clean end is read at the start', async () => {
  const parts = setup();
  await written(parts);
  damage(parts.file);
  expect(() => parts.open()).toThrow('the row tc_1 1 of log is not what was written');
});

test('[ST60] a copy with its marks is read at the start', async () => {
  const parts = setup();
  await written(parts);
  damage(parts.file);
  await markCleanEnd(parts.file);
  const copy = join(parts.dir, 'copy');
  mkdirSync(copy);
  for (const end of ['', '.mark', '.clean']) {
    copyFileSync(`${parts.file}${end}`, join(copy, `callboard.db${end}`));
  }
  expect(() => parts.open(join(copy, 'callboard.db'))).toThrow(StoreDamagedError);
});

/** A server that writes is killed, and a page is damaged then that none of its writes touched. */
async function killed(parts: ReturnType<typeof setup>): Promise<void> {
  const { store, close } = parts.open();
  const args = { text: 'x'.repeat(20_000) + WORDS };
  await store.write([appendCall(finalCall({ id: 'tc_long', version: 1, args }))]);
  await store.toolUse.recent({ limit: 1 });
  await close();
  const writer = join(import.meta.dirname, 'testing/write-until-killed.ts');
  const child = spawn(process.execPath, [writer, parts.file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.length;
    if (printed > 5_000) child.kill('SIGKILL');
  });
  await once(child, 'close');
  expect(child.signalCode).toBe('SIGKILL');
  damage(parts.file);
}

const DAMAGED = 'the row tc_long 1 of log is not what was written';

test('[ST60] after kill -9 a start reads no rows; damage is found while the store is in use, and by the next start', async () => {
  const parts = setup();
  await killed(parts);
  const { store, checkLater } = parts.open();
  expect(await store.getCall('tc_1')).toMatchObject({ status: 'SUCCEEDED' });
  await expect(store.getCall('tc_long')).rejects.toThrow(RowDamagedError);
  const found = await new Promise<StoreDamagedError>((onDamaged) => checkLater(onDamaged));
  expect(found.message).toContain(DAMAGED);
  // It is not closed: this server is killed, too.
  expect(() => parts.open()).toThrow(DAMAGED);
});

test('[ST60] a start does not go on without an open call whose row is damaged', async () => {
  const parts = setup();
  const { store, close } = parts.open();
  const args = { text: WORDS };
  await store.write([appendCall(sampleCall({ id: 'tc_open', version: 1, args }))]);
  await close();
  const database = new DatabaseSync(parts.file);
  database.exec("UPDATE log SET checksum = checksum + 1 WHERE call_id = 'tc_open'");
  database.close();
  expect(() => createSqliteStore({ file: parts.file, isTrusted: true })).toThrow(StoreDamagedError);
});

test.each<[string, (file: string) => void]>([
  [
    'a copy of what kill -9 left',
    (file) => {
      copyFileSync(file, `${file}.copy`);
      renameSync(`${file}.copy`, file);
    },
  ],
  [
    'what another boot left',
    (file) => {
      const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
      const note = readFileSync(`${file}.clean`, 'latin1').replace(boot, randomUUID());
      writeFileSync(`${file}.clean`, note);
    },
  ],
  ['what has lost its mark', (file) => rmSync(`${file}.mark`)],
])('[ST60] %s is read at the start', async (_, change) => {
  const parts = setup();
  await killed(parts);
  change(parts.file);
  expect(() => parts.open()).toThrow(DAMAGED);
});

test('[ST60] a store of which a write failed is trusted by no start, also when it is killed', async () => {
  const parts = setup();
  await written(parts);
  const { store } = parts.open();
  const other = new DatabaseSync(parts.file);
  onTestFinished(() => other.close());
  other.exec("CREATE TRIGGER fail BEFORE INSERT ON runs BEGIN SELECT RAISE(FAIL, 'planted'); END");
  await expect(store.write([putRun(sampleRun())])).rejects.toThrow(/planted/);
  expect(existsSync(`${parts.file}.clean`)).toBe(false);
});

test('[ST60] a log beside the file is of no clean end', async () => {
  const parts = setup();
  await written(parts);
  damage(parts.file);
  await markCleanEnd(parts.file);
  writeFileSync(`${parts.file}-wal`, Buffer.alloc(1));
  expect(() => parts.open()).toThrow(StoreDamagedError);
});

test('[ST60] what is whole is found so, and trusted by the next start too', async () => {
  const parts = setup();
  await written(parts);
  for (let start = 0; start < 2; start += 1) {
    const opened = parts.open();
    opened.checkLater((damage) => {
      throw damage;
    });
    expect(await opened.store.getCall('tc_1')).toMatchObject({ args: { text: WORDS } });
    await opened.close();
    expect(existsSync(`${parts.file}.clean`)).toBe(true);
  }
});
