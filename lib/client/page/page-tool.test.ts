import { expect, test } from 'vitest';
import { readPageTool } from './page-tool.ts';

const tool = { name: 'a.b', description: 'Does it', execute: () => 1 };
const cyclic: Record<string, unknown> = { type: 'object' };
cyclic.properties = cyclic;

test.each([
  [undefined, /^callboard\.tool takes \{ name, .* \}; it was given missing/],
  [[tool], /it was given a list/],
  [{ ...tool, name: undefined }, /^The name of a tool has 1 to 64 .*; this one is missing/],
  [{ ...tool, name: '1st' }, /this one is "1st"/],
  [{ ...tool, name: 'constructor' }, /this one is "constructor"/],
  [{ ...tool, description: ' ' }, /^a\.b: description must be text .*; it is " "/],
  [{ ...tool, execute: undefined }, /^a\.b: execute must be a function .*; it is missing/],
  [{ ...tool, parameters: { text: 'string' } }, /^a\.b: parameters must be a JSON Schema such as/],
  [{ ...tool, parameters: null }, /it is null/],
  [{ ...tool, parameters: cyclic }, /^a\.b: its parameters are not JSON/],
  [{ ...tool, parameters: { type: 'object', maximum: 1n } }, /parameters are not JSON.*BigInt/],
  [{ ...tool, concurrency: 0 }, /^a\.b: concurrency must be an integer from 1 on; it is 0/],
])('[PG1] %o is refused, with what would be right', (given, message) => {
  expect(() => readPageTool(given)).toThrow(TypeError);
  expect(() => readPageTool(given)).toThrow(message);
});

test('[PG1] a tool without parameters takes none, and all else is passed on', () => {
  expect(readPageTool(tool).spec).toEqual({
    ...{ name: 'a.b', description: 'Does it', parameters: { type: 'object', properties: {} } },
  });
  const more = {
    ...{ timeoutMs: 1_000, displayName: 'B', concurrency: 2 },
    annotations: { readOnlyHint: true },
  };
  expect(readPageTool({ ...tool, ...more, unknown: 1 }).spec).toMatchObject(more);
  expect(readPageTool({ ...tool, ...more, unknown: 1 }).spec).not.toHaveProperty('unknown');
});

test('[PG1] what the page does to its schema later changes no registration', () => {
  const parameters = { type: 'object', properties: {} };
  const { spec } = readPageTool({ ...tool, parameters });
  parameters.type = 'string';
  expect(spec.parameters).toEqual({ type: 'object', properties: {} });
});
