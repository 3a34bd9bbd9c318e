import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ensurePrivateNode } from './ensure-node.mjs';

/** What the system's loader prints where a library is missing. */
const LOADER = 'node: error while loading shared libraries: libatomic.so.1: cannot open';

/** A folder with a manifest, and an npm that installs a program in place of Node. */
function setup(program: string) {
  const folder = mkdtempSync(join(tmpdir(), 'private-node-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
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
