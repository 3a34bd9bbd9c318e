import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Notice } from '#lib/protocol/notice';
import type { Caller } from '../auth/principal.ts';
import { createBrowser, PUSH_ORIGIN, readVapid } from './testing/fake-push-service.ts';
import { decided, finished, never, requested, setupPush } from './testing/setup-push.ts';

type Push = Awaited<ReturnType<typeof setupPush>>;

const agent = (caller: Caller) => ({ caller, userAgent: 'Mozilla/5.0 (Android 16) Chrome/140.0' });

/** A browser of a person or device that has subscribed. */
async function subscribed(
  push: Pick<Push, 'service' | 'person'>,
  more: Parameters<ReturnType<typeof createBrowser>['body']>[0] & { caller?: Caller } = {},
) {
  const { caller = await push.person(), ...chosen } = more;
  const browser = createBrowser();
  const { push_id } = await push.service.subscribe(browser.body(chosen), agent(caller));
  return { browser, caller, pushId: push_id };
}

const send = (
  push: Pick<Push, 'targetOf'> & { clock: Push['clock'] },
  pushId: string,
  notice: Notice,
) =>
  push.targetOf(pushId)?.send({
    ...{ deliveryId: 'dlv_1', notice, at: push.clock.now(), signal: never },
  });

const lastRequest = ({ pushService }: Push) => {
  const last = pushService.requests.at(-1);
  if (!last) throw new Error('nothing was sent');
  return last;
};

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

test('[WP5] names of tool and client are in it only where a person chose them, and hide nothing', async () => {
  const push = await setupPush();
  const plain = await subscribed(push, { locale: 'zh' });
  await send(push, plain.pushId, requested(push.clock.now()));
  const first = JSON.stringify(plain.browser.read(lastRequest(push).body));
  expect(first).toContain('有一个调用等待您的决定');
  expect(first).not.toMatch(/files|Pixel|helper/);
  const chosen = await subscribed(push, { details: true });
  const client = { client_id: 'client_1', name: `Pixel\u202e${'8'.repeat(200)}` };
  await send(push, chosen.pushId, requested(push.clock.now(), { client }));
  const { body } = chosen.browser.read(lastRequest(push).body);
  expect(body).toMatch(/^files\.delete · Pixel[^\u202e]+8{74}$/);
  const device = await push.device('client_1');
  const phone = await subscribed(push, { caller: device, details: true });
  await send(push, phone.pushId, requested(push.clock.now()));
  expect(JSON.stringify(phone.browser.read(lastRequest(push).body))).not.toContain('files');
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

test('[WP3] an endpoint of no push service is refused, and none is kept', async () => {
  const push = await setupPush({ hosts: ['*.push.example.org'] });
  const by = agent(await push.person());
  const subscribe = (endpoint: string) =>
    push.service.subscribe(createBrowser(endpoint).body(), by);
  const metadata = subscribe('http://169.254.169.254/latest/meta-data');
  await expect(metadata).rejects.toThrow('must be an https address');
  await expect(subscribe('https://fcm.googleapis.com:8443/1')).rejects.toThrow('no port');
  await expect(subscribe('https://example.org/1')).rejects.toThrow('GET /v1/push lists them');
  expect(push.targets.list()).toEqual([]);
  expect(await subscribe('https://a.push.example.org/1')).toMatchObject({
    host: 'a.push.example.org',
  });
});

test('[WP3] a push service that the configuration names no more is sent nothing', async () => {
  const push = await setupPush({ hosts: ['push.example.org'] });
  const by = agent(await push.person());
  await push.service.subscribe(createBrowser('https://push.example.org/1').body(), by);
  expect(push.targets.list()).toHaveLength(1);
  expect((await push.restart({})).targets.list()).toEqual([]);
});

test('[WP3] keys that no browser has are refused', async () => {
  const push = await setupPush();
  const body = createBrowser().body();
  const keys = { ...body.keys, p256dh: body.keys.auth };
  const asked = push.service.subscribe({ ...body, keys }, agent(await push.person()));
  await expect(asked).rejects.toThrow('p256dh a point of P-256');
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

test('[WP4] a note that was taken counts as delivered, also where the rest of the answer is cut off', async () => {
  const push = await setupPush();
  const { pushId } = await subscribed(push);
  push.pushService.answer({ status: 201, isCut: true });
  expect(await send(push, pushId, requested(push.clock.now()))).toEqual({
    ...{ kind: 'delivered', status: 201 },
  });
});

test.each([404, 410])('[WP4] the answer %i ends the subscription for good', async (status) => {
  const push = await setupPush();
  const { pushId, caller } = await subscribed(push);
  push.pushService.answer({ status });
  expect(await send(push, pushId, requested(push.clock.now()))).toEqual({ kind: 'gone', status });
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

test('[WP6] a person gets approvals and failures as chosen, and no success, denial or stop', async () => {
  const push = await setupPush();
  const now = push.clock.now();
  const wanted = async (kinds: ('approvals' | 'failures')[]) => {
    const { pushId } = await subscribed(push, { kinds });
    const target = push.targetOf(pushId);
    const run = { run_id: 'run_1', title: '', error: 'model_failed', link: '/?run=run_1' };
    const notices: Notice[] = [
      ...[requested(now), decided(now)],
      ...(['tool_error', 'timeout', 'ok', 'denied', 'cancelled'] as const).map((outcome) =>
        finished(now, outcome, outcome),
      ),
      { id: 'evt_4', type: 'run.finished', at: now, data: { ...run, status: 'failed' } },
      { id: 'evt_5', type: 'run.finished', at: now, data: { ...run, status: 'idle' } },
    ];
    return notices.filter((notice) => target?.wants(notice)).map(({ id }) => id);
  };
  expect(await wanted(['approvals'])).toEqual(['evt_1', 'evt_2']);
  expect(await wanted(['failures'])).toEqual(['tool_error', 'timeout', 'evt_4']);
});

test('[WP7] a device gets what is of its own calls alone, in generic words, and a link to its page', async () => {
  const push = await setupPush();
  const [own, other] = await Promise.all(['client_1', 'client_2'].map((id) => push.device(id)));
  const phone = await subscribed(push, own && { caller: own });
  const foreign = await subscribed(push, other && { caller: other });
  const notice = requested(push.clock.now());
  expect(push.targetOf(phone.pushId)?.wants(notice)).toBe(true);
  expect(push.targetOf(foreign.pushId)?.wants(notice)).toBe(false);
  expect(push.targetOf(phone.pushId)?.wants(requested(0, { client: null }))).toBe(false);
  await send(push, phone.pushId, notice);
  expect(phone.browser.read(lastRequest(push).body)).toMatchObject({
    ...{ title: 'A call for this device waits for a decision', path: '/device' },
  });
});

test('[WP8] an approval is urgent, waits as long as it lasts, and is not sent after that', async () => {
  const push = await setupPush();
  const { pushId } = await subscribed(push);
  const notice = requested(push.clock.now());
  push.clock.advance(20_000);
  await send(push, pushId, notice);
  expect(lastRequest(push).headers).toMatchObject({ urgency: 'high', ttl: '40' });
  await send(push, pushId, requested(push.clock.now(), { expires_at: null }));
  expect(lastRequest(push).headers).toMatchObject({ ttl: '600' });
  await send(push, pushId, finished(push.clock.now(), 'timeout'));
  expect(lastRequest(push).headers).toMatchObject({ urgency: 'normal', ttl: '14400' });
  const old = finished(push.clock.now() - 4 * 3_600_000, 'timeout');
  expect(await send(push, pushId, old)).toBe('obsolete');
  push.clock.advance(40_000);
  expect(await send(push, pushId, notice)).toBe('obsolete');
  expect(push.pushService.requests).toHaveLength(3);
});

test('[WP9] a decision takes the place of its request, and is shown without sound', async () => {
  const push = await setupPush();
  const { pushId, browser } = await subscribed(push);
  await send(push, pushId, requested(push.clock.now()));
  const first = lastRequest(push);
  await send(push, pushId, decided(push.clock.now()));
  const second = lastRequest(push);
  expect(second.headers.topic).toBe(first.headers.topic);
  expect(first.headers.topic).toMatch(/^[\w-]{32}$/);
  expect(browser.read(second.body)).toMatchObject({
    ...{ title: 'The call waits no more', quiet: true, tag: first.headers.topic },
  });
  await send(push, pushId, requested(push.clock.now(), { tool_call_id: 'tc_2' }));
  expect(lastRequest(push).headers.topic).not.toBe(first.headers.topic);
});

test('[WP10] of a flood of failures five are sent, then one a minute, all in one place', async () => {
  const push = await setupPush();
  const { pushId } = await subscribed(push);
  const wants = (id: string) =>
    push.targetOf(pushId)?.wants(finished(push.clock.now(), 'tool_error', id)) ?? false;
  const ids = Array.from({ length: 20 }, (_, index) => `evt_${index}`);
  expect(ids.filter(wants)).toEqual(ids.slice(0, 5));
  // The same notice is answered as before.
  expect(['evt_4', 'evt_19'].filter(wants)).toEqual(['evt_4']);
  push.clock.advance(60_000);
  expect(['evt_x', 'evt_y'].filter(wants)).toEqual(['evt_x']);
  expect(push.targetOf(pushId)?.wants(requested(push.clock.now()))).toBe(true);
});

test('[WP11] people who decide and devices subscribe, and none else', async () => {
  const push = await setupPush();
  const body = createBrowser().body();
  const person = await push.person('operator');
  const refused: Caller[] = [
    await push.person('viewer'),
    { ...person, sessionId: null },
    { kind: 'agent', name: 'helper', tokenId: 'tok_1', tools: [] },
    { kind: 'device', clientId: 'client_1', tokenId: null },
  ];
  for (const caller of refused) {
    const asked = push.service.subscribe(body, agent(caller));
    await expect(asked).rejects.toMatchObject({ code: 'permission_denied' });
  }
  await push.service.subscribe(body, agent(person));
  expect(push.service.state(person).subscriptions).toMatchObject([
    { browser: 'Chrome on Android' },
  ]);
});

test('[WP11] another’s subscription is answered as one that is not there', async () => {
  const push = await setupPush();
  const { pushId, caller } = await subscribed(push);
  const other = await push.person('operator');
  expect(push.service.state(other).subscriptions).toEqual([]);
  for (const asked of [
    push.service.unsubscribe(pushId, other),
    push.service.test(pushId, other, never),
    push.service.test('push_none', other, never),
  ]) {
    await expect(asked).rejects.toMatchObject({ code: 'not_found' });
  }
  await push.service.unsubscribe(pushId, caller);
  expect(push.targets.list()).toEqual([]);
});

test('[WP12] a subscription ends with its sign-out, its token and its device', async () => {
  const push = await setupPush();
  const out = await subscribed(push);
  const stays = await subscribed(push);
  const ofToken = await subscribed(push, { caller: await push.person('operator') });
  const phone = await subscribed(push, { caller: await push.device('client_1') });
  const ids = () => push.targets.list().map(({ id }) => id.slice('push:'.length));
  expect(ids()).toEqual([out, stays, ofToken, phone].map(({ pushId }) => pushId));
  const { sessionId } = out.caller as Extract<Caller, { kind: 'operator' }>;
  await push.sessions.signOut(sessionId ?? '', false);
  for (const { caller } of [ofToken, phone]) await push.tokens.revoke(caller.tokenId ?? '');
  expect(ids()).toEqual([stays.pushId]);
  expect((await push.restart()).targets.list()).toHaveLength(1);
});

test('[WP12] what ended while the server was down ends at its start', async () => {
  const push = await setupPush();
  const out = await subscribed(push);
  const ofToken = await subscribed(push, { caller: await push.person('operator') });
  const stays = await subscribed(push);
  const { sessionId } = out.caller as Extract<Caller, { kind: 'operator' }>;
  const token = (await push.store.listTokens()).find(({ id }) => id === ofToken.caller.tokenId);
  if (!token) throw new Error('the token was not kept');
  await push.store.write([
    { type: 'delete_session', idHash: sessionId ?? '' },
    { type: 'put_token', token: { ...token, revokedAt: push.clock.now() } },
  ]);
  expect(push.targets.list()).toHaveLength(3);
  const again = await push.restart();
  expect(again.targets.list()).toMatchObject([{ id: `push:${stays.pushId}` }]);
});

test('[WP12] a person’s ends after 7 days without a page, a device’s after 90', async () => {
  const push = await setupPush();
  const day = 24 * 60 * 60_000;
  const { pushId } = await subscribed(push);
  const device = await push.device('client_1');
  const phone = await subscribed(push, { caller: device });
  // The sign-in itself has idled out by now.
  push.clock.advance(6.9 * day);
  expect(push.targets.list()).toHaveLength(2);
  push.clock.advance(0.2 * day);
  expect(push.targetOf(pushId)).toBeUndefined();
  push.clock.advance(80 * day);
  await push.service.subscribe(phone.browser.body(), agent(device));
  push.clock.advance(80 * day);
  expect(push.targetOf(phone.pushId)).toBeDefined();
  push.clock.advance(11 * day);
  expect(push.targets.list()).toEqual([]);
});

test('[WP13] the same browser changes what it is sent, and another cannot take it over', async () => {
  const push = await setupPush();
  const { browser, caller, pushId } = await subscribed(push);
  const again = await push.service.subscribe(browser.body({ kinds: ['failures'] }), agent(caller));
  expect(again).toMatchObject({ push_id: pushId, kinds: ['failures'] });
  const next = await push.person('operator');
  const foreign = createBrowser(browser.endpoint).body();
  await expect(push.service.subscribe(foreign, agent(next))).rejects.toThrow('other keys');
  await push.service.subscribe(browser.body(), agent(next));
  expect(push.service.state(caller).subscriptions).toEqual([]);
  expect(push.service.state(next).subscriptions).toMatchObject([{ push_id: pushId }]);
});

test('[WP13] one holder of a token has 20 at most', async () => {
  const push = await setupPush();
  const caller = await push.person();
  const all = Array.from({ length: 20 }, () => createBrowser());
  for (const browser of all) await push.service.subscribe(browser.body(), agent(caller));
  const more = push.service.subscribe(createBrowser().body(), agent(caller));
  await expect(more).rejects.toThrow('20 push subscriptions of yours');
  await push.service.subscribe(all[0]?.body() ?? createBrowser().body(), agent(caller));
  await subscribed(push, { caller: await push.person('operator') });
  expect(push.targets.list()).toHaveLength(21);
});

test('[WP13] all together have 500 at most', async () => {
  const push = await setupPush();
  for (let index = 0; index < 25; index += 1) {
    const caller = await push.device(`client_${index}`);
    for (let one = 0; one < 20; one += 1) await subscribed(push, { caller });
  }
  await expect(subscribed(push)).rejects.toThrow('There are 500 push subscriptions');
});

test('[WP14] a restart keeps subscriptions with what was chosen', async () => {
  const push = await setupPush();
  const { caller, browser } = await subscribed(push, { kinds: ['failures'], details: true });
  const before = push.service.state(caller);
  const again = await push.restart();
  expect(again.service.state(caller)).toEqual(before);
  const [target] = again.targets.list();
  const notice = finished(push.clock.now(), 'tool_error');
  await target?.send({ deliveryId: 'd', notice, at: 0, signal: never });
  expect(browser.read(lastRequest(push).body)).toMatchObject({ body: 'files.delete · Pixel 8' });
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
  push.clock.advance(10_000);
  push.pushService.answer({ status: 410 });
  expect(await ask()).toEqual({ outcome: 'ended', status: 410, reason: null });
  expect(push.service.state(caller).subscriptions).toEqual([]);
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
