import { expect, test } from 'vitest';
import { InsecureTransportError, refuseInsecureTransport } from './insecure-transport.ts';

test.each([
  'ws://192.168.1.5:3000/ws/client',
  'http://board.example',
  'ws://127.0.0.1.evil.example',
])(
  '[LN50] T32: %s is refused to a program and to a page by https, as insecure_transport',
  (address) => {
    for (const from of ['program', 'https page'] as const) {
      const refuse = () => refuseInsecureTransport(address, from, undefined);
      expect(refuse).toThrow(InsecureTransportError);
      expect(refuse).toThrow(expect.objectContaining({ code: 'insecure_transport' }));
    }
  },
);

test.each([
  'wss://192.168.1.5:3000',
  'https://board.example',
  'ws://127.0.0.1:3000',
  'ws://[::1]:1',
  'http://localhost:3000',
])('[LN50] %s is not', (address) =>
  expect(() => refuseInsecureTransport(address, 'program', false)).not.toThrow(),
);

test('[LN50] who accepts the danger says so by an option', () => {
  const address = 'ws://192.168.1.5:3000';
  expect(() => refuseInsecureTransport(address, 'program', true)).not.toThrow();
});
