import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '../../lib/testing/temp-dir.ts';
import { ensureCachedNode, ensurePrivateNode } from './ensure-node.mjs';

/** What the system's loader prints where a library is missing. */
const LOADER = 'node: error while loading shared libraries: libatomic.so.1: cannot open';

/** A folder with a manifest, and an npm that installs a program in place of Node. */
function setup(program: string) {
  const folder = tempDir();
  const node = join(folder, 'node_modules', 'node-here', 'bin', 'node');
  const put = (file: string, contents: string) => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, contents);
    chmodSync(file, 0o755);
  };
  put(join(folder, 'package.json'), '{}');
  const npmCli = join(folder, 'npm-cli.cjs');
  put(
    npmCli,
    `const { mkdirSync, writeFileSync } = require('node:fs');
     mkdirSync(${JSON.stringify(dirname(node))}, { recursive: true });
     writeFileSync(${JSON.stringify(node)}, ${JSON.stringify(program)}, { mode: 0o755 });`,
  );
  const ensure = (mayInstall: boolean) =>
    ensurePrivateNode({ folder, node, npmCli, env: { PATH: process.env.PATH }, mayInstall });
  return { ensure };
}

test('a private Node that starts is installed once, and used', async () => {
  const { ensure } = setup('#!/bin/sh\necho v24.21.0\n');
  expect(await ensure(false)).toMatch(/nothing is set up yet/);
  expect(await ensure(true)).toBeUndefined();
  expect(await ensure(false)).toBeUndefined();
});

test('one that does not start is refused in one line, with the reason and what would be right', async () => {
  const { ensure } = setup(`#!/bin/sh\necho '${LOADER}' >&2\necho more >&2\nexit 127\n`);
  for (const mayInstall of [true, false]) {
    const problem = await ensure(mayInstall);
    expect(problem).toContain(LOADER);
    expect(problem).toContain('install Node 24');
    expect(problem).not.toMatch(/npm|\n/);
  }
});

test('one for another system is refused in one line too', async () => {
  const { ensure } = setup('#!/no/such/loader\n');
  expect(await ensure(true)).toMatch(/does not start here: .*ENOENT.*install Node 24/);
});

/** A cache, and an npm that installs a program in place of Node, and then fails where it should. */
function setupCache(program: string, ending = '') {
  const cache = tempDir();
  const npmCli = join(cache, 'npm-cli.cjs');
  writeFileSync(
    npmCli,
    `const { appendFileSync, mkdirSync, writeFileSync } = require('node:fs');
     mkdirSync('node_modules/node-here/bin', { recursive: true });
     writeFileSync('node_modules/node-here/bin/node', ${JSON.stringify(program)}, { mode: 0o755 });
     appendFileSync(${JSON.stringify(join(cache, 'installs'))}, '+');
     ${ending}`,
  );
  const folder = join(cache, 'deep', 'runtime-1');
  const node = join(folder, 'node_modules', 'node-here', 'bin', 'node');
  const env = { PATH: process.env.PATH };
  return {
    cache,
    ensure: () => ensureCachedNode({ folder, node, npmCli, env }),
    left: () => readdirSync(join(cache, 'deep')),
  };
}

test('[CX15] the right Node is installed into the cache once, also by several that start at once', async () => {
  const { ensure, left, cache } = setupCache('#!/bin/sh\necho v24.21.0\n');
  expect(await Promise.all([ensure(), ensure(), ensure()])).toEqual(Array(3).fill(undefined));
  const installs = readFileSync(join(cache, 'installs'), 'utf8');
  expect(await ensure()).toBeUndefined();
  expect(readFileSync(join(cache, 'installs'), 'utf8')).toBe(installs);
  expect(left()).toEqual(['runtime-1']);
});

test('[CX15] an install that was cut short leaves nothing that would pass for one', async () => {
  const { ensure, left } = setupCache('#!/bin/sh\necho v24.21.0\n', 'process.exit(1);');
  expect(await ensure()).toMatch(/could not be installed/);
  expect(left()).toEqual([]);
});

test('[CX15] a cache that cannot be written is named, with what would be right', async () => {
  const { ensure, cache } = setupCache('');
  writeFileSync(join(cache, 'deep'), 'a file in its place');
  expect(await ensure()).toMatch(/cannot be written .*XDG_CACHE_HOME.*install Node 24/);
});
