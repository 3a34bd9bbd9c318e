import { expect, test } from 'vitest';
import { isLoopback } from './hosts.ts';

const hostOf = (host: string) => new URL(`https://${host}`).hostname;

test.each(['localhost', 'LOCALHOST', '127.0.0.1', '127.9.8.7', '[::1]', '[0:0:0:0:0:0:0:1]'])(
  '[LN42] %s is this machine',
  (host) => {
    expect(isLoopback(hostOf(host))).toBe(true);
  },
);

test.each(['127.example', '127.0.0.1.example', 'localhost.example', '[::2]', '192.168.1.5'])(
  '[LN42] %s may be another machine',
  (host) => {
    expect(isLoopback(hostOf(host))).toBe(false);
  },
);
