import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { continueOnRightNode } from './right-node.mjs';

test('on a Node that runs Callboard the program goes on', async () => {
  expect(await continueOnRightNode('x.mjs')).toBeUndefined();
});

test('examples/node-tool.mjs loads no TypeScript before it is on the right Node', () => {
  const text = readFileSync(join(import.meta.dirname, '../..', 'examples/node-tool.mjs'), 'utf8');
  const firstLoad = text.indexOf('.ts');
  expect(text.indexOf('await continueOnRightNode(')).toBeGreaterThan(0);
  expect(text.indexOf('await continueOnRightNode(')).toBeLessThan(firstLoad);
  expect(text).not.toMatch(/^import .*\.ts/m);
});
