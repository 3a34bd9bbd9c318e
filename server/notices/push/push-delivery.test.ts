import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sendPush } from './open-push.ts';
import { createPushHosts } from './push-hosts.ts';
import { testMessage } from './push-note.ts';
import { pushRecordSchema } from './push-record.ts';
import { createBrowser, PUSH_ORIGIN, readVapid } from './testing/fake-push-service.ts';
import { never, requested, setupPush } from './testing/setup-push.ts';
import { agent, lastRequest, send, subscribed } from './testing/subscribed.ts';
import { loadVapidKeys } from './vapid-keys.ts';

test('[WP1] [WP5] what a person gets of an approval is generic, with the link and the tag', async () => {
  const push = await setupPush();
  const { browser, pushId } = await subscribed(push);
  const sent = await send(push, pushId, requested(push.clock.now()));
  expect(sent).toEqual({ kind: 'delivered', status: 201 });
  const { headers, body, path } = lastRequest(push);
  expect(`${PUSH_ORIGIN}${path}`).toBe(browser.endpoint);
  expect(headers).toMatchObject({ 'content-encoding': 'aes128gcm' });
  const text = browser.read(body);
  expect(text).toEqual({
    ...{ v: 1, title: 'A call waits for your decision', body: 'Open Callboard to decide.' },
    ...{ path: '/approvals?call=tc_1', tag: headers.topic, quiet: false, at: push.clock.now() },
  });
});

test('[WP2] the request is signed for its push service, with a key that outlives the server', async () => {
  const push = await setupPush({ subject: 'mailto:you@example.org' });
  const { pushId, caller } = await subscribed(push);
  await send(push, pushId, requested(push.clock.now()));
  const { claims, key } = readVapid(lastRequest(push).headers.authorization);
  const exp = Math.floor(push.clock.now() / 1_000) + 12 * 3_600;
  const sub = 'mailto:you@example.org';
  expect(claims).toEqual({ typ: 'JWT', alg: 'ES256', aud: PUSH_ORIGIN, exp, sub });
  const { public_key } = push.service.state(caller);
  expect(key).toBe(public_key);
  expect(statSync(join(push.dataDir, 'push-key')).mode & 0o777).toBe(0o600);
  const again = await push.restart({});
  expect(again.service.state(caller).public_key).toBe(public_key);
  await send({ ...again, clock: push.clock }, pushId, requested(push.clock.now()));
  const later = readVapid(lastRequest(push).headers.authorization);
  expect(later.claims).toMatchObject({ sub: 'mailto:callboard@example.com' });
});

test('[WP2] a file that has no key stops the start', async () => {
  const push = await setupPush();
  expect(readFileSync(join(push.dataDir, 'push-key'), 'utf8')).toMatch(/^[\w-]{43}\n$/);
  writeFileSync(join(push.dataDir, 'push-key'), 'AAAA\n');
  await expect(push.restart()).rejects.toThrow(/push-key holds no key of P-256.*delete it/);
  writeFileSync(join(push.dataDir, 'push-key'), `${Buffer.alloc(32).toString('base64url')}\n`);
  await expect(push.restart()).rejects.toThrow(/push-key holds no key of P-256/);
});

test('[WP4] what is neither 2xx nor the end is a failure with its reason, and no redirect is followed', async () => {
  const push = await setupPush();
  const { pushId, caller } = await subscribed(push);
  for (const [status, reason] of [
    [302, 'answered with a redirect'],
    [403, 'refused the message'],
    [503, 'is busy'],
  ] as const) {
    push.pushService.answer({ status, headers: { location: 'http://127.0.0.1:1/' } });
    expect(await send(push, pushId, requested(push.clock.now()))).toEqual({
      ...{ kind: 'failed', status },
      reason: expect.stringContaining(`fcm.googleapis.com ${reason}`),
    });
    const [own] = push.service.state(caller).subscriptions;
    expect(own?.last).toMatchObject({ outcome: 'failed', status });
  }
  expect(push.pushService.requests).toHaveLength(3);
});

test('[WP4] a busy push service is asked again when it wants it, a day later at most', async () => {
  const push = await setupPush();
  const { pushId } = await subscribed(push);
  const waits = async (value: string) => {
    push.pushService.answer({ status: 429, headers: { 'retry-after': value } });
    return send(push, pushId, requested(push.clock.now()));
  };
  expect(await waits('30')).toMatchObject({ retryAfterMs: 30_000 });
  expect(await waits('999999999')).toMatchObject({ retryAfterMs: 86_400_000 });
  expect(await waits('soon')).not.toHaveProperty('retryAfterMs');
});

test.each([404, 410])('[WP4] the answer %i ends the subscription for good', async (status) => {
  const push = await setupPush();
  const { pushId, caller } = await subscribed(push);
  push.pushService.answer({ status });
  expect(await send(push, pushId, requested(push.clock.now()))).toEqual({
    ...{ kind: 'gone', status, reason: 'fcm.googleapis.com knows the browser no more' },
  });
  expect(push.service.state(caller).subscriptions).toEqual([]);
  expect((await push.restart()).targets.list()).toEqual([]);
});

test('[WP4] without a way to the push service an attempt fails, and the state shows it', async () => {
  const push = await setupPush();
  const endpoint = 'https://web.push.apple.com/1';
  const caller = await push.person();
  const { push_id } = await push.service.subscribe(createBrowser(endpoint).body(), agent(caller));
  const ended = AbortSignal.abort();
  const target = push.targetOf(push_id);
  const attempt = { deliveryId: 'd', notice: requested(push.clock.now()), at: 0, signal: ended };
  expect(await target?.send(attempt)).toMatchObject({ kind: 'failed', status: null });
  const [own] = push.service.state(caller).subscriptions;
  expect(own?.last).toMatchObject({ outcome: 'failed', status: null, reason: 'timeout' });
});

test('[WP15] a test is sent at once and answers what the push service did, not too often', async () => {
  const push = await setupPush();
  const { caller, pushId, browser } = await subscribed(push);
  const ask = () => push.service.test(pushId, caller, never);
  expect(await ask()).toEqual({ outcome: 'delivered', status: 201, reason: null });
  expect(browser.read(lastRequest(push).body)).toMatchObject({ title: 'Notifications work' });
  // That of the deliveries is a notice that no browser wants.
  const data = { run_id: 'run_test', title: '', status: 'idle', error: null, link: '/' } as const;
  await send(push, pushId, { id: 'evt_9', type: 'run.finished', at: push.clock.now(), data });
  expect(browser.read(lastRequest(push).body)).toMatchObject({ title: 'Notifications work' });
  push.pushService.answer({ status: 500 });
  expect(await ask()).toEqual({ outcome: 'failed', status: 500, reason: 'busy' });
  for (let more = 0; more < 3; more += 1) await ask();
  await expect(ask()).rejects.toMatchObject({ code: 'rate_limited', retryAfter: 10 });
  const second = await subscribed(push, { caller });
  const ofSecond = push.service.test(second.pushId, caller, never);
  await expect(ofSecond, 'in another browser').rejects.toMatchObject({ code: 'rate_limited' });
  const other = await subscribed(push, { caller: await push.person('operator') });
  const ofOther = push.service.test(other.pushId, other.caller, never);
  expect(await ofOther, 'of another person').toMatchObject({ outcome: 'delivered' });
  push.clock.advance(10_000);
  push.pushService.answer({ status: 410 });
  expect(await ask()).toEqual({ outcome: 'ended', status: 410, reason: null });
  const { subscriptions } = push.service.state(caller);
  expect(subscriptions.map(({ push_id }) => push_id)).toEqual([second.pushId]);
});

test('[WP16] turned off, nothing is sent and none can subscribe; what there was stays', async () => {
  const push = await setupPush();
  const { caller, pushId } = await subscribed(push);
  const off = await push.restart({ enabled: false });
  expect(off.targets.list()).toEqual([]);
  expect(off.service.state(caller)).toMatchObject({ enabled: false, subscriptions: [{}] });
  await expect(subscribed(off)).rejects.toThrow('push.enabled');
  await expect(off.service.test(pushId, caller, never)).rejects.toThrow('push.enabled');
});

test('[WP33] [OB31] a push service that is not allowed any more is not asked', async () => {
  const push = await setupPush();
  await subscribed(push);
  const [entry] = await push.store.listKept('push_subscription');
  const stored = pushRecordSchema.parse(entry?.value);
  const record = { ...stored, endpoint: 'https://push.example.org/1' };
  const asked: string[] = [];
  const sent = await sendPush(record, testMessage(record, 0), {
    ...{ hosts: createPushHosts(), keys: await loadVapidKeys(push.dataDir), clock: push.clock },
    ...{ subject: 'mailto:you@example.org', signal: never },
    async fetch(url) {
      asked.push(url);
      return new Response();
    },
  });
  expect([sent, asked]).toEqual([{ outcome: 'ended', status: null, reason: null }, []]);
});
