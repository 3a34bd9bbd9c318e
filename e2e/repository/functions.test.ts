import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Node, parseSync, visitorKeys } from 'oxc-parser';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
/** What a reader has to hold in the head at once is small here. */
const FOLDERS =
  '{{lib/{call,client,net,policy},server/{auth,calls,clawseed,connections,events,history,http,policy,rehearsal,runs,sockets,tools}}/**,server}/*.ts';
const MAX_LINES = 60;

test('no function is longer than a screen', async () => {
  const long: string[] = [];
  for await (const file of glob(FOLDERS, { cwd: ROOT, exclude: isNoSource })) {
    long.push(...longFunctions(file, readFileSync(join(ROOT, file), 'utf8')));
  }
  expect(long).toEqual([]);
});

test('a function of 61 lines is found, wherever it is', () => {
  const body = 'x();\n'.repeat(59);
  const long = `const a = { b() {\n${body}} };`;
  expect(longFunctions('a.ts', long)).toEqual(['a.ts:1 has 61 lines']);
  expect(longFunctions('a.ts', `class A { b = () => {\n${body}}; }`)).toHaveLength(1);
  expect(longFunctions('a.ts', long.replace('x();\n', ''))).toEqual([]);
});

const isNoSource = (path: string) =>
  /(\.test\.ts|\.contract\.ts|\/testing|\/node_modules)$/.test(path);

function longFunctions(file: string, source: string): string[] {
  const lineAt = (offset: number) => source.slice(0, offset).split('\n').length;
  return functionsIn(parseSync(file, source).program).flatMap(({ start, end }) => {
    const lines = lineAt(end) - lineAt(start) + 1;
    return lines > MAX_LINES ? [`${file}:${lineAt(start)} has ${lines} lines`] : [];
  });
}

function functionsIn(node: Node): Node[] {
  const children = (visitorKeys[node.type] ?? []).flatMap((key): Node[] => {
    const child: unknown = Reflect.get(node, key);
    return (Array.isArray(child) ? child : [child]).filter(isNode);
  });
  const own = /Function/.test(node.type) ? [node] : [];
  return [...own, ...children.flatMap(functionsIn)];
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value;
