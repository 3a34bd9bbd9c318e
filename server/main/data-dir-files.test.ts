import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { tempDir } from '#lib/testing/temp-dir';
import { createErrorLog } from '../testing/error-log.ts';
import { createAddressFile, createAliveMark } from './data-dir-files.ts';

let dir = '';
beforeEach(() => {
  dir = tempDir();
});

const setup = (wall: () => number, file = join(dir, 'alive')) => {
  const { logger, errors } = createErrorLog();
  const mark = createAliveMark({ file, now: () => ({ wall: wall(), steady: 77 }), logger });
  return { file, errors, mark };
};

test('[CK4] a server that stops leaves when that was, for the next one', async () => {
  let now = 1_000;
  const first = setup(() => now);
  expect(await first.mark.last()).toBeUndefined();
  const stop = first.mark.keep();
  now = 9_000;
  await stop();
  expect(await setup(() => 0).mark.last()).toEqual({ wall: 9_000, steady: 77 });
  expect(statSync(first.file).mode & 0o077).toBe(0);
});

test.each(['', 'yesterday', '12', '-5\n', '1e9\n', '1 \n', '1 x\n', `${'9'.repeat(17)}\n`])(
  '[CK4] a mark that makes no sense (%j) is none',
  async (text) => {
    const { file, mark } = setup(() => 0);
    writeFileSync(file, text);
    expect(await mark.last()).toBeUndefined();
  },
);

test('[CK4] a mark that cannot be written is logged, and stops nothing', async () => {
  const { errors, mark } = setup(() => 1, join(dir, 'missing', 'alive'));
  await mark.keep()();
  expect(errors).not.toEqual([]);
});

test('[CK4] the mark is plain numbers of milliseconds', async () => {
  const { file, mark } = setup(() => 1_234);
  await mark.keep()();
  expect(readFileSync(file, 'utf8')).toBe('1234 77\n');
});

test('[CX5] the address is for the owner alone, replaces an older one, and leaves with the server', () => {
  const path = join(dir, 'address');
  const file = createAddressFile(path, 7);
  file.publish('http://127.0.0.1:1');
  file.publish('http://127.0.0.1:2');
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ url: 'http://127.0.0.1:2', pid: 7 });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  file.remove();
  file.remove();
  expect(existsSync(path)).toBe(false);
});
