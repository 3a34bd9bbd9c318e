import { expect, test } from 'vitest';
import { isLoopbackHost } from '../tls/open-door.ts';
import { ConfigError } from './config.ts';
import { readArguments, readNetwork } from './network.ts';

const CONFIG = {
  ...{ host: undefined, development: false, publicUrl: undefined, trustedProxies: [] },
};
const ARGS = { lan: false, cert: undefined, key: undefined, insecurePlaintextLan: false };
const open = { ...CONFIG, host: '0.0.0.0' };
const pair = { cert: 'c', key: 'k' };

const refusal = (...given: Parameters<typeof readNetwork>): string => {
  try {
    readNetwork(...given);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('It was accepted');
};

test('[LN42] without arguments this machine alone reaches it, by plain HTTP', () => {
  const network = readNetwork(CONFIG, ARGS);
  expect(network).toMatchObject({ host: '127.0.0.1', isOpen: false, tls: { kind: 'none' } });
  for (const host of ['localhost', '127.8.0.1', '::1', '[::1]']) {
    expect(readNetwork({ ...CONFIG, host }, ARGS).isOpen, host).toBe(false);
  }
});

test('[LN43] T07: an address of a network without TLS stops the start, and the line says what would be right', () => {
  for (const host of ['0.0.0.0', '::', '192.168.1.5', 'fd00::5', 'board.local']) {
    const line = refusal({ ...CONFIG, host }, ARGS);
    for (const word of [host, 'CALLBOARD_HOST', '--lan', '--cert', 'CALLBOARD_PUBLIC_URL']) {
      expect(line).toContain(word);
    }
    expect(line).toContain('--insecure-plaintext-lan');
    expect(line).not.toContain('\n');
  }
  expect(refusal({ ...open, publicUrl: 'https://board.example' }, ARGS)).toContain('TLS');
  const proxied = { ...open, trustedProxies: ['10.0.0.1'] };
  expect(refusal({ ...proxied, publicUrl: 'http://board.example' }, ARGS)).toContain('TLS');
});

test('[LN43] with TLS, behind a proxy that has it, or by the flag that names the danger, it starts', () => {
  expect(readNetwork(CONFIG, { ...ARGS, lan: true })).toMatchObject({
    ...{ host: '::', isOpen: true, tls: { kind: 'own' }, isPlaintext: false },
  });
  expect(readNetwork(open, { ...ARGS, ...pair }).tls).toEqual({ kind: 'given', ...pair });
  const proxied = { ...open, publicUrl: 'https://b.example', trustedProxies: ['10.0.0.1'] };
  expect(readNetwork(proxied, ARGS)).toMatchObject({ isOpen: true, isPlaintext: false });
  const insecure = { ...ARGS, insecurePlaintextLan: true };
  expect(readNetwork(open, insecure).isPlaintext).toBe(true);
  expect(readNetwork(CONFIG, insecure).isPlaintext).toBe(false);
});

test('[LN44] arguments that contradict each other are refused', () => {
  expect(refusal({ ...CONFIG, host: '127.0.0.1' }, { ...ARGS, lan: true })).toContain('--lan');
  const both = { ...ARGS, lan: true, insecurePlaintextLan: true };
  expect(refusal(CONFIG, both)).toContain('--insecure-plaintext-lan');
  expect(refusal(CONFIG, { ...ARGS, cert: 'c' })).toMatch(/^--cert is given without --key/);
  expect(refusal(CONFIG, { ...ARGS, key: 'k' })).toMatch(/^--key is given without --cert/);
});

test('[LN45] T16: the development server is for this machine alone, with any argument', () => {
  const development = { ...open, development: true };
  for (const args of [ARGS, { ...ARGS, insecurePlaintextLan: true }, { ...ARGS, ...pair }]) {
    expect(refusal(development, args)).toMatch(/development server.*this machine alone/);
  }
  expect(refusal({ ...CONFIG, development: true }, { ...ARGS, lan: true })).toContain('npm start');
  expect(readNetwork({ ...CONFIG, development: true }, ARGS).isOpen).toBe(false);
});

test('[LN42] loopback is an address of it, in any spelling, and localhost; no name besides', () => {
  for (const host of ['::ffff:127.0.0.1', '127.255.0.1', 'LOCALHOST', '0:0:0:0:0:0:0:1']) {
    expect(isLoopbackHost(host), host).toBe(true);
  }
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'localhost.example', '128.0.0.1', '']) {
    expect(isLoopbackHost(host), host).toBe(false);
  }
});

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
    const line = new RegExp(
      `'${wrong.replace(/=.*/, '')}'.*; the arguments .*--salvage.*--lan[^\\n]*$`,
    );
    expect(() => readArguments([wrong])).toThrow(line);
  }
  for (const args of [['--cert'], ['--cert', '--key', 'k']]) {
    expect(() => readArguments(args)).toThrow(/^Option '--cert.*; the arguments[^\n]*$/);
  }
});
