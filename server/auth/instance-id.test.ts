import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '#lib/testing/temp-dir';
import { loadFingerprint, loadInstanceId } from './secrets.ts';

test('[AU7] each data directory has a name of its own, made once', async () => {
  const parent = tempDir();
  const [here, there] = [join(parent, 'here'), join(parent, 'there')];
  const id = await loadInstanceId(here);
  expect(id).toMatch(/^[0-9a-f]{8}$/);
  expect(await loadInstanceId(here)).toBe(id);
  expect(await loadInstanceId(there)).not.toBe(id);
  expect((await stat(join(here, 'instance'))).mode & 0o777).toBe(0o600);
});

test('[DV43] a server has four numbers of its own identity, the same after a restart', async () => {
  const parent = tempDir();
  const [here, there] = [join(parent, 'here'), join(parent, 'there')];
  const numbers = await loadFingerprint(here);
  expect(numbers).toHaveLength(4);
  expect(numbers.every((one) => Number.isInteger(one) && one >= 0 && one <= 255)).toBe(true);
  expect(await loadFingerprint(here)).toEqual(numbers);
  expect(await loadFingerprint(there)).not.toEqual(numbers);
});
