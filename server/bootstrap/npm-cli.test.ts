import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '../../lib/testing/temp-dir.ts';
import { findNpmCli } from './ensure-node.mjs';

function setup() {
  const root = tempDir();
  const put = (path: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), '');
    return join(root, path);
  };
  return { root, put, execPath: join(root, 'node', 'bin', 'node') };
}

test('npm says itself where it is', () => {
  const { put, execPath } = setup();
  put('node/lib/node_modules/npm/bin/npm-cli.js');
  const own = put('elsewhere/npm-cli.js');
  expect(findNpmCli({ env: { npm_execpath: own }, execPath })).toBe(own);
});

test("another package manager's program is passed over for the npm beside Node", () => {
  const { put, execPath } = setup();
  const beside = put('node/lib/node_modules/npm/bin/npm-cli.js');
  const env = { npm_execpath: put('elsewhere/pnpm.cjs') };
  expect(findNpmCli({ env, execPath })).toBe(beside);
});

test("else the PATH's npm is followed to its file", () => {
  const { root, put, execPath } = setup();
  const file = put('share/npm-cli.js');
  mkdirSync(join(root, 'bin'));
  symlinkSync(file, join(root, 'bin', 'npm'));
  expect(findNpmCli({ env: { PATH: join(root, 'bin') }, execPath })).toBe(file);
  expect(findNpmCli({ env: {}, execPath })).toBeUndefined();
});
