import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '#lib/testing/temp-dir';
import { createTokenCheck, loadOperatorToken } from './secrets.ts';

test('[AU1] a given token wins over the kept one', async () => {
  const dataDir = tempDir();
  await loadOperatorToken({ dataDir, given: undefined });
  const given = 'a-token-of-my-own-making';
  expect(await loadOperatorToken({ dataDir, given })).toEqual({
    token: given,
    source: 'given',
  });
});

test('[AU1] a kept file that holds no token is refused with its path', async () => {
  const dataDir = tempDir();
  const file = join(dataDir, 'token');
  await writeFile(file, 'has a space in it, and more\n');
  const loaded = loadOperatorToken({ dataDir, given: undefined });
  await expect(loaded).rejects.toThrow(`${file} holds`);
});

test('[AU2] T33: a new token is random, for its owner alone, and found again', async () => {
  const dataDir = join(tempDir(), 'made');
  const made = await loadOperatorToken({ dataDir, given: '' });
  expect(made.source).toBe('made');
  expect(Buffer.from(made.token, 'base64url')).toHaveLength(32);
  const file = join(dataDir, 'token');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await readFile(file, 'utf8')).trim()).toBe(made.token);
  expect(await loadOperatorToken({ dataDir, given: undefined })).toEqual({
    ...made,
    source: 'kept',
  });
});

test('[AU2] a kept file that is open to others is closed again', async () => {
  const dataDir = tempDir();
  const file = join(dataDir, 'token');
  await writeFile(file, 'a-token-that-was-restored\n', { mode: 0o644 });
  expect(await loadOperatorToken({ dataDir, given: undefined })).toMatchObject({
    source: 'kept',
  });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('[AU3] only the very same token passes', () => {
  const check = createTokenCheck('the-operators-own-token');
  expect(check('the-operators-own-token')).toBe(true);
  for (const wrong of [
    '',
    'the-operators-own-toke',
    'the-operators-own-token ',
    'x'.repeat(9_000),
  ]) {
    expect(check(wrong)).toBe(false);
  }
});
