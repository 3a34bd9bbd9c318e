import { expect, test } from 'vitest';
import { followServerClock, serverNow } from './server-clock.ts';

const HOUR = 3_600_000;

/** An answer of a server whose clock is ahead by so much, with these headers besides. */
const answering = (aheadMs: number, headers = { 'cache-control': 'no-store' }) =>
  followServerClock(async () => {
    const date = new Date(Date.now() + aheadMs).toUTCString();
    return new Response('{}', { headers: { ...headers, date } });
  })('/v1/me', {});

const ahead = () => Math.round((serverNow() - Date.now()) / 1_000);

test('[CD50] times are counted by the clock of the server, once an answer has shown it', async () => {
  await answering(800);
  expect(ahead()).toBe(0);
  await answering(-HOUR);
  expect(Math.abs(ahead() + 3_600)).toBeLessThanOrEqual(1);
  const known = ahead();
  await answering(-HOUR + 900);
  expect(ahead()).toBe(known);
  await answering(5 * HOUR, { 'cache-control': 'max-age=60' });
  expect(ahead()).toBe(known);
  await answering(0);
  expect(Math.abs(ahead())).toBeLessThanOrEqual(1);
});
