import { expect, test } from 'vitest';
import { createSignInCodes, SIGN_IN_CODE_MS } from './sessions.ts';

test('[AU4] a link works once', () => {
  const { codes } = setup();
  const code = codeOf(codes.make());
  expect(codes.consume(code)).toBe(true);
  expect(codes.consume(code)).toBe(false);
  expect(codes.consume('never-made')).toBe(false);
});

test('[AU5] a link dies after ten minutes', () => {
  const { codes, advance } = setup();
  const [first, second] = [codeOf(codes.make()), codeOf(codes.make())];
  advance(SIGN_IN_CODE_MS - 1);
  expect(codes.consume(first)).toBe(true);
  advance(1);
  expect(codes.consume(second)).toBe(false);
});

const codeOf = (path: string): string => path.replace('/sign-in/', '');

function setup() {
  let now = 0;
  let made = 0;
  const clock = { now: () => now, schedule: () => () => {} };
  const codes = createSignInCodes({ clock, newSecret: () => `secret-${made++}` });
  return {
    codes,
    advance(ms: number) {
      now += ms;
    },
  };
}
