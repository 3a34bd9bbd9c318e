import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { finalCall } from '#lib/call/testing/sample-call';
import { bundledWorker } from '../testing/bundled-worker.ts';
import { throwingLogger } from '../testing/error-log.ts';
import { markCleanEnd, openStore } from './open-store.ts';
import { StoreDamagedError } from './store-damaged-error.ts';
import { appendCall } from './testing/store-setup.ts';

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const step of cleanups.splice(0).reverse()) await step();
});

function setup() {
  const dir = mkdtempSync(join(tmpdir(), 'open-'));
  cleanups.push(() => rm(dir, { recursive: true }));
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
    cleanups.push(() => opened.close());
    return opened;
  };
  return { dir, file, open };
}

const WORDS = 'what was written';

/** A server that wrote one call, and ended as it should. */
async function written({ open }: ReturnType<typeof setup>): Promise<void> {
  const opened = open();
  await opened.store.write([appendCall(finalCall({ version: 1, args: { text: WORDS } }))]);
  await opened.close();
}

/** The row as nobody wrote it. */
function damage(file: string): void {
  const bytes = readFileSync(file);
  bytes.write('WHAT', bytes.indexOf(WORDS), 'latin1');
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
  expect(found.message).toContain('the row tc_1 of tool_calls is not what was written');
  await opened.close();
  expect(() => parts.open()).toThrow(StoreDamagedError);
});

test('[ST60] a file that was changed after a clean end is read at the start', async () => {
  const parts = setup();
  await written(parts);
  damage(parts.file);
  expect(() => parts.open()).toThrow('the row tc_1 of tool_calls is not what was written');
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

test('[ST60] a clean end counts for one start: one that was killed leaves none', async () => {
  const parts = setup();
  await written(parts);
  expect(existsSync(`${parts.file}.clean`)).toBe(true);
  const { store } = parts.open();
  await store.write([appendCall(finalCall({ id: 'tc_2', version: 1 }))]);
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
