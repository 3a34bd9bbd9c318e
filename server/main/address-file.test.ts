import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createAddressFile } from './address-file.ts';

test('[CX5] the address is for the owner alone, replaces an older one, and leaves with the server', () => {
  const dir = mkdtempSync(join(tmpdir(), 'address-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
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
