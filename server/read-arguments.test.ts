import { expect, test } from 'vitest';
import { ConfigError } from './config.ts';
import { readArguments } from './read-arguments.ts';

test('--salvage is the only argument', () => {
  expect(readArguments([])).toEqual({ salvage: false });
  expect(readArguments(['--salvage'])).toEqual({ salvage: true });
});

test('any other is refused in one line that names what may be given', () => {
  expect(() => readArguments(['--salvage', '--port=1'])).toThrow(ConfigError);
  expect(() => readArguments(['--port=1'])).toThrow(
    /^"--port=1" is not an argument.*--salvage[^\n]*$/,
  );
});
