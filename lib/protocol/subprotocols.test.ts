import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tokenProblem } from './operator-token.ts';
import { PROTOCOL, readCredentialProtocol, toCredentialProtocol } from './subprotocols.ts';

/** RFC 9110, section 5.6.2: what the name of a subprotocol may be. */
const HTTP_TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const SIGNS = [...'ABCXYZabcxyz0189_.~+/=-'];
const tokens = fc
  .array(fc.constantFrom(...SIGNS), { minLength: 16, maxLength: 256 })
  .map((signs) => signs.join(''));

test('every valid token fits into a header and comes back out of a subprotocol', () => {
  fc.assert(
    fc.property(tokens, (token) => {
      expect(tokenProblem(token)).toBeUndefined();
      for (const kind of ['bearer', 'session'] as const) {
        const name = toCredentialProtocol(kind, token);
        expect(name).toMatch(HTTP_TOKEN);
        expect(readCredentialProtocol(kind, `${PROTOCOL}, ${name}`)).toBe(token);
        expect(readCredentialProtocol(kind, `${name},${PROTOCOL}`)).toBe(token);
      }
    }),
  );
});

test('random bytes as base64 and as base64url may be a token', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 190 }), (bytes) => {
      for (const encoding of ['base64', 'base64url', 'hex'] as const) {
        const text = Buffer.from(bytes).toString(encoding).slice(0, 256);
        expect(tokenProblem(text)).toBeUndefined();
      }
    }),
  );
});

test('what base64url gives stays as it is, so that programs may write it themselves', () => {
  const token = 'aZ09-_.~aZ09-_.~';
  expect(toCredentialProtocol('bearer', token)).toBe(`bearer.${token}`);
  expect(readCredentialProtocol('bearer', 'callboard.v1, bearer.a+b')).toBe('a+b');
});

test.each([
  ['callboard.v1', undefined],
  [undefined, undefined],
  ['callboard.v1, session.x', undefined],
  ['callboard.v1, xbearer.x', undefined],
  ['callboard.v1, bearer.', ''],
  ['callboard.v1, bearer.%zz', ''],
  ['callboard.v1, bearer.a, bearer.b', 'a'],
])('of %o the token is %o', (header, token) => {
  expect(readCredentialProtocol('bearer', header)).toBe(token);
});

test.each([
  '',
  'fifteen-letters',
  'x'.repeat(257),
  'has a space in it, and',
  'pass%2Fword-0123456',
])('%o is not a valid token, and the text states what is', (token) =>
  expect(tokenProblem(token)).toMatch(/16 to 256 .*_\.~\+\/=-$/),
);
