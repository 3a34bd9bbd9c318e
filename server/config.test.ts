import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { ConfigError, readConfig } from './config.ts';

const keepOf = (env: Record<string, string>) => readConfig(env, tmpdir()).keep;

test('[ST65] without a setting everything is kept', () => {
  expect(keepOf({})).toEqual({ days: undefined, bytes: undefined });
  expect(keepOf({ CALLBOARD_KEEP_DAYS: ' ' })).toEqual({ days: undefined, bytes: undefined });
});

test.each([
  ['16777216', 16 * 1024 ** 2],
  ['500M', 500 * 1024 ** 2],
  ['10g', 10 * 1024 ** 3],
  ['2T', 2 * 1024 ** 4],
])('[ST66] %s is how many bytes are kept', (value, bytes) => {
  expect(keepOf({ CALLBOARD_KEEP_BYTES: value, CALLBOARD_KEEP_DAYS: '30' })).toEqual({
    days: 30,
    bytes,
  });
});

test.each([
  { CALLBOARD_KEEP_DAYS: '0' },
  { CALLBOARD_KEEP_DAYS: '1.5' },
  { CALLBOARD_KEEP_DAYS: '-1' },
  { CALLBOARD_KEEP_BYTES: '1M' },
  { CALLBOARD_KEEP_BYTES: '10GB' },
  { CALLBOARD_KEEP_BYTES: `${'9'.repeat(15)}T` },
])('[ST65] %j makes no sense, and says which setting and what it may be', (env) => {
  const [[name, value] = []] = Object.entries(env);
  expect(() => readConfig(env, tmpdir())).toThrow(ConfigError);
  expect(() => readConfig(env, tmpdir())).toThrow(`${name} is "${value}": it may be`);
});
