import { expect, test } from 'vitest';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { filterTools, type ToolFilter } from './filter-tools.ts';

const tool = (name: string, source: string): ToolListing => ({
  ...{ name, model_name: name, source, description: '', schema: {}, timeout_ms: 1 },
  ...{ callable: source !== 'client', clients: [] },
});

const TOOLS = [tool('d', 'mcp'), tool('c', 'openapi'), tool('b', 'client'), tool('a', 'server')];

test.each<[ToolFilter, string[]]>([
  ['all', ['a', 'b', 'c', 'd']],
  ['server', ['a']],
  ['client', ['b']],
  ['other', ['c', 'd']],
  ['callable', ['a', 'c', 'd']],
])('the filter %s shows those tools, by name', (filter, names) => {
  expect(filterTools(TOOLS, filter, '').map(({ name }) => name)).toEqual(names);
});
