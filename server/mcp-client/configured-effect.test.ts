import { expect, test } from 'vitest';
import { configuredEffectOf } from './mcp-servers-config.ts';

const tools = { '*': 'deny', 'read_*': 'ask', read_file: 'allow', 'read_f*': 'deny' } as const;

test('[MC4] of several patterns the longest counts, and a whole name before all', () => {
  expect(configuredEffectOf(tools, 'read_file')).toEqual({ effect: 'allow' });
  expect(configuredEffectOf(tools, 'read_folder')).toEqual({ effect: 'deny' });
  expect(configuredEffectOf(tools, 'read_line')).toEqual({ effect: 'ask' });
  expect(configuredEffectOf(tools, 'write')).toEqual({ effect: 'deny' });
});

test('[MC4] a tool that is not named asks', () => {
  expect(configuredEffectOf({ read_file: 'allow' }, 'constructor')).toEqual({
    effect: 'ask',
    isDefault: true,
  });
});
