import { expect, test } from 'vitest';
import { CLOSE } from '../../protocol/close-codes.ts';
import { sha256Hex } from '../../util/sha256.ts';
import { newDeviceToken } from '../client-identity.ts';
import { until } from '../testing/setup-client.ts';
import { setupPage } from './testing/setup-page.ts';

const note = {
  name: 'board.write',
  description: 'Writes a note onto the board',
  parameters: { type: 'object', properties: {} },
  execute: () => 'done',
};

const hashOfToken = (token: string) => sha256Hex(new TextEncoder().encode(token));

/** A page that has no token and connects. */
async function ask() {
  const page = await setupPage();
  page.callboard.tool(note);
  page.callboard.connect({ server: page.address, name: 'Shop' });
  return page;
}

/** Up to the outcome that the server holds. */
async function asking() {
  const page = await ask();
  const join = await page.pairing.next('join');
  join.reply('waiting');
  const held = await page.pairing.next('outcome');
  return { ...page, join, held, token: page.pairing.kept.get() ?? '' };
}

/** A page that was let in, at a later load. */
async function letInBefore() {
  const page = await setupPage();
  const token = newDeviceToken();
  page.pairing.kept.set(token);
  page.callboard.tool(note);
  page.callboard.connect({ server: page.address });
  const outcome = await page.pairing.next('outcome');
  return { ...page, token, outcome };
}

test('[PG21] a text that was kept and is no token is none', async () => {
  const page = await setupPage();
  page.pairing.kept.set('cb_device_short');
  page.callboard.connect({ server: page.address });
  await page.pairing.next('join');
});

test('[PG22] a page that a person refused is refused, and asks no more', async () => {
  const { callboard, held, problems, pairing, server } = await asking();
  held.reply('denied');
  await until(callboard.status, (status) => status === 'refused');
  expect(problems).toEqual(['this page is not let in: a person refused it.']);
  pairing.touch();
  await Promise.resolve();
  expect([pairing.count, server.connections, pairing.isTouchAwaited]).toEqual([2, 0, false]);
});

test.each(['expired', 'unknown'])(
  '[PG23] one whose request is %s asks again when it is touched, and not before',
  async (state) => {
    const { callboard, held, problems, pairing, join } = await asking();
    held.reply(state);
    await until(callboard.status, (status) => status === 'refused');
    expect(problems).toEqual([expect.stringMatching(/asks again when touched/)]);
    await expect.poll(() => pairing.isTouchAwaited).toBe(true);
    expect([pairing.count, pairing.kept.get()]).toEqual([2, null]);
    pairing.touch();
    const again = await pairing.next('join');
    expect(again.body.token_hash).not.toBe(join.body.token_hash);
  },
);

test('[PG23] one whose kept token the server does not know asks at once, when it was loaded anew', async () => {
  const { outcome, token, pairing, problems } = await letInBefore();
  outcome.reply('unknown');
  const join = await pairing.next('join');
  expect(join.body.token_hash).not.toBe(hashOfToken(token));
  expect(problems).toEqual([]);
});

test('[PG23] connecting anew is no reason to ask a person anew', async () => {
  const { callboard, held, pairing } = await asking();
  held.reply('expired');
  await until(callboard.status, (status) => status === 'refused');
  callboard.connect();
  await expect.poll(() => pairing.isTouchAwaited).toBe(true);
  expect(pairing.count).toBe(2);
});

test('[PG24] one that is revoked forgets its token, and asks again only when it is touched', async () => {
  const { callboard, outcome, server, pairing, problems } = await letInBefore();
  outcome.reply('approved');
  const link = await server.accept();
  await link.welcome();
  link.close(CLOSE.unauthenticated, 'revoked');
  (await pairing.next('outcome')).reply('revoked');
  await expect.poll(() => pairing.isTouchAwaited).toBe(true);
  expect(problems).toEqual([expect.stringMatching(/it is revoked/)]);
  expect([callboard.status.get(), pairing.kept.get(), pairing.count]).toEqual(['refused', null, 2]);
  pairing.touch();
  await pairing.next('join');
});

test('[PG24] one that a person took off stays away', async () => {
  const { callboard, outcome, server, pairing } = await letInBefore();
  outcome.reply('approved');
  const link = await server.accept();
  await link.welcome();
  link.close(CLOSE.disconnected, 'taken off');
  await until(callboard.status, (status) => status === 'refused');
  expect([pairing.count, pairing.kept.get() === null]).toEqual([1, false]);
});

test('[PG25] a request that did not arrive is made again later, and the page explains once', async () => {
  const { held, pairing, problems, probes } = await asking();
  held.cut();
  (await pairing.next('outcome')).cut();
  probes.isReachable = false;
  (await pairing.next('outcome')).cut();
  await pairing.next('outcome');
  expect(problems).toEqual([
    expect.stringMatching(/responds, and refuses this page\. It needs a token/),
    expect.stringMatching(/does not respond/),
  ]);
});

test('[PG25] Retry-After is kept to; a refusal that lasts longer than a minute is one', async () => {
  const { callboard, pairing, problems } = await ask();
  const tooEarly = await pairing.next('join');
  tooEarly.fail(429, 'rate_limited', { 'retry-after': '10' });
  const next = await pairing.next('join');
  expect(pairing.waits).toEqual([10_000]);
  next.fail(429, 'rate_limited', { 'retry-after': '600' });
  await until(callboard.status, (status) => status === 'refused');
  expect(problems).toEqual([expect.stringMatching(/is not let in: refused as rate/)]);
  expect([pairing.count, pairing.kept.get()]).toEqual([2, null]);
});

test('[PG25] a Retry-After that is a date is waited for as where there is none', async () => {
  const { pairing } = await ask();
  const tooEarly = await pairing.next('join');
  tooEarly.fail(503, 'unavailable', { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' });
  await pairing.next('join');
  expect(pairing.waits).toEqual([expect.toSatisfy(Number.isFinite)]);
});

test('[PG25] an origin that is blocked is refused with the words of the server', async () => {
  const { callboard, pairing, problems } = await ask();
  (await pairing.next('join')).fail(403, 'origin_not_allowed');
  await until(callboard.status, (status) => status === 'refused');
  expect(problems).toEqual([expect.stringMatching(/refused as origin_not_allowed/)]);
});

test('[PG26] a page beside one that asks follows the request of that one', async () => {
  const { pairing } = await ask();
  const join = await pairing.next('join');
  const other = newDeviceToken();
  // The other page's, which it has kept in the meantime.
  pairing.kept.set(other);
  join.fail(429, 'rate_limited', { 'retry-after': '10' });
  expect((await pairing.next('outcome')).body.token).toBe(other);
});

test('[PG26] of two tokens that were made at once the one that the server knows is kept', async () => {
  const { pairing } = await ask();
  const join = await pairing.next('join');
  const own = pairing.kept.get();
  pairing.kept.set(newDeviceToken());
  join.reply('waiting');
  const outcome = await pairing.next('outcome');
  expect([outcome.body.token, pairing.kept.get()]).toEqual([own, own]);
});

test('[PG20] who disconnects while the page asks ends that', async () => {
  const { callboard, held, pairing, server } = await asking();
  await callboard.disconnect();
  held.reply('approved');
  await Promise.resolve();
  expect([callboard.status.get(), server.connections, pairing.count]).toEqual(['off', 0, 2]);
});
