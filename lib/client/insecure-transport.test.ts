import { expect, test } from 'vitest';
import { insecureTransport } from './insecure-transport.ts';

test.each([
  'ws://192.168.1.5:3000/ws/client',
  'http://board.example',
  'ws://127.0.0.1.evil.example',
])('[LN50] T32: %s is refused to a program and to a page by https', (address) => {
  for (const from of ['program', 'https page'] as const) {
    expect(insecureTransport(address, from, undefined)).toMatch(/^insecure_transport: .* no TLS/);
  }
});

test.each([
  'wss://192.168.1.5:3000',
  'https://board.example',
  'ws://127.0.0.1:3000',
  'ws://[::1]:1',
  'http://localhost:3000',
])('[LN50] %s is not', (address) =>
  expect(insecureTransport(address, 'program', false)).toBeUndefined(),
);

test('[LN50] who accepts the danger says so by an option', () => {
  expect(insecureTransport('ws://192.168.1.5:3000', 'program', true)).toBeUndefined();
});
