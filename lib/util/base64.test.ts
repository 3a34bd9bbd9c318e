import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toBase64 } from './base64.ts';

test('agrees with another implementation on any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => {
      expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'));
    }),
  );
});

test('takes more bytes than a call has room for arguments', () => {
  const bytes = new Uint8Array(3_000_000).map((_, index) => index % 251);
  expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'));
});
