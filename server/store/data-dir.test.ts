import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tempDir } from '#lib/testing/temp-dir';
import { DataDirInUseError, DataDirUnusableError, lockDataDir, untilWritable } from './data-dir.ts';

function setup() {
  const parent = tempDir();
  return { parent, dir: join(parent, 'deep', 'data') };
}

function lock(dir: string) {
  const held = lockDataDir(dir);
  onTestFinished(held.release);
  return held;
}

/** Another process that holds the directory until it is ended. */
async function holdElsewhere(dir: string) {
  const module = join(import.meta.dirname, 'data-dir.ts');
  const program = `
    const { lockDataDir } = await import(${JSON.stringify(module)});
    const held = lockDataDir(${JSON.stringify(dir)});
    setInterval(() => held, 1_000);
    console.log('held');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

test('[ST24] a second server is told that the directory is in use, at once', () => {
  const { dir } = setup();
  const held = lock(dir);
  expect(() => lock(dir)).toThrow(DataDirInUseError);
  expect(() => lock(dir)).toThrow(`the data directory ${dir} is in use by another server`);
  held.release();
  held.release();
  lock(dir);
});

test('[ST24] a server killed with SIGKILL leaves no lock behind', async () => {
  const { dir } = setup();
  const child = await holdElsewhere(dir);
  expect(() => lock(dir)).toThrow(DataDirInUseError);
  child.kill('SIGKILL');
  await once(child, 'exit');
  lock(dir);
});

test('a directory that cannot be made is refused in one line that says why', () => {
  const { parent } = setup();
  const file = join(parent, 'file');
  writeFileSync(file, '');
  expect(() => lock(join(file, 'data'))).toThrow(DataDirUnusableError);
  expect(() => lock(join(file, 'data'))).toThrow(/cannot be used \(ENOTDIR.*CALLBOARD_DATA_DIR/);
});

test('[ST25] a new directory and its lock are for their owner alone', () => {
  const { parent, dir } = setup();
  lock(dir);
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  expect(statSync(join(dir, 'lock.db')).mode & 0o777).toBe(0o600);
  const before = statSync(parent).mode;
  lock(parent);
  expect(statSync(parent).mode).toBe(before);
});

test('[ST37] a disk is asked at growing intervals, until it takes a file again', async () => {
  const { dir } = setup();
  const pauses: number[] = [];
  await untilWritable({
    dir,
    async pause(ms) {
      pauses.push(ms);
      if (pauses.length === 7) mkdirSync(dir, { recursive: true }); // Until then, no file can be made there.
    },
  });
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  expect(existsSync(dir) && readdirSync(dir)).toEqual([]);
});
