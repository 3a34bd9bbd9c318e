import { expect, test } from 'vitest';
import { ConfigError } from './config.ts';
import { readArguments } from './read-arguments.ts';

const NONE = {
  ...{ salvage: false, json: false, lan: false, insecurePlaintextLan: false },
  ...{ cert: undefined, key: undefined },
};

test('[LN41] each argument is read, files also with a sign of equality', () => {
  expect(readArguments([])).toEqual(NONE);
  expect(readArguments(['--salvage'])).toEqual({ ...NONE, salvage: true });
  expect(readArguments(['--lan', '--cert', 'a.crt', '--key=k=1.pem'])).toEqual({
    ...{ ...NONE, lan: true, cert: 'a.crt', key: 'k=1.pem' },
  });
  expect(readArguments(['--json'])).toEqual({ ...NONE, json: true });
  expect(readArguments(['--insecure-plaintext-lan'])).toEqual({
    ...{ ...NONE, insecurePlaintextLan: true },
  });
});

test('[LN41] any other is refused in one line that names what may be given', () => {
  expect(() => readArguments(['--salvage', '--port=1'])).toThrow(ConfigError);
  for (const wrong of ['--port=1', '--lan=yes', 'lan']) {
    const line = new RegExp(`^"${wrong}" is not an argument.*--salvage.*--lan[^\\n]*$`);
    expect(() => readArguments([wrong])).toThrow(line);
  }
  for (const args of [['--cert'], ['--cert', '--key', 'k'], ['--key=']]) {
    expect(() => readArguments(args)).toThrow(/^--(cert|key) has no file behind it/);
  }
});
