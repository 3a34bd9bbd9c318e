import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { continueOnRightNode, runOnNode } from './right-node.mjs';

const ROOT = join(import.meta.dirname, '../..');

test('a program is run again by the Node of the setup, with its arguments, and its exit code counts', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'right-node-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const [program, out] = [join(dir, 'program.mjs'), join(dir, 'out')];
  writeFileSync(
    program,
    `import { writeFileSync } from 'node:fs';
     const [, , out, ...rest] = process.argv;
     writeFileSync(out, rest.join());
     process.exit(7);`,
  );
  const setup = { node: process.execPath, env: { PATH: process.env.PATH }, npmCli: undefined };
  expect(await runOnNode([program, out, 'a', 'b c'], setup)).toBe(7);
  expect(readFileSync(out, 'utf8')).toBe('a,b c');
});

test('without a Node that runs Callboard it ends with 1', async () => {
  expect(await runOnNode(['x.mjs'], { problem: 'nothing is set up yet.' })).toBe(1);
});

test('on a Node that runs Callboard the program goes on', async () => {
  expect(await continueOnRightNode('x.mjs')).toBeUndefined();
});

test('examples/node-tool.mjs loads no TypeScript before it is on the right Node', () => {
  const text = readFileSync(join(ROOT, 'examples/node-tool.mjs'), 'utf8');
  const firstLoad = text.indexOf('.ts');
  expect(text.indexOf('await continueOnRightNode(')).toBeGreaterThan(0);
  expect(text.indexOf('await continueOnRightNode(')).toBeLessThan(firstLoad);
  expect(text).not.toMatch(/^import .*\.ts/m);
});
