import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tempDir } from '#lib/testing/temp-dir';
import { DataDirInUseError, lockDataDir } from './lock-data-dir.ts';

test('[CL27] a second program is told what to do, until the first one lets go', async () => {
  const dir = join(tempDir(), 'data');
  const held = lockDataDir(dir);
  expect(() => lockDataDir(dir)).toThrow(DataDirInUseError);
  expect(() => lockDataDir(dir)).toThrow('stop that one, or give this one a dataDir');
  held.release();
  lockDataDir(dir).release();
  expect(statSync(dir).mode & 0o777).toBe(0o700);
});

test('[CL27] a program killed with SIGKILL leaves nothing locked', async () => {
  const dir = tempDir();
  const module = join(import.meta.dirname, 'lock-data-dir.ts');
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
  expect(() => lockDataDir(dir)).toThrow(DataDirInUseError);
  child.kill('SIGKILL');
  await once(child, 'exit');
  lockDataDir(dir).release();
});
