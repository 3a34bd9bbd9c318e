import { expect, test } from 'vitest';
import type { Caller } from '../../auth/principal.ts';
import { createBrowser } from './testing/fake-push-service.ts';
import { finished, never, setupPush } from './testing/setup-push.ts';
import { agent, lastRequest, subscribed } from './testing/subscribed.ts';

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

test('[WP3] keys that no browser has are refused', async () => {
  const push = await setupPush();
  const body = createBrowser().body();
  const keys = { ...body.keys, p256dh: body.keys.auth };
  const asked = push.service.subscribe({ ...body, keys }, agent(await push.person()));
  await expect(asked).rejects.toThrow('p256dh a point of P-256');
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

test('[WP30] a subscription that does not reach the disk is sent nothing', async () => {
  const push = await setupPush();
  const caller = await push.person();
  await push.store.close();
  const asked = push.service.subscribe(createBrowser().body(), agent(caller));
  await expect(asked).rejects.toThrow();
  expect(push.targets.list()).toEqual([]);
});

test.each([
  'a sign-out before the request',
  'a sign-out during the request',
  'the revocation of a device during the request',
])('[WP31] %s leaves no subscription', async (what) => {
  const push = await setupPush();
  const isDevice = what.includes('device');
  const caller = isDevice ? await push.device('client_1') : await push.person('operator');
  const end = async () => {
    if (caller.kind === 'operator') await push.sessions.signOut(caller.sessionId ?? '', false);
    else if (caller.kind === 'device') await push.tokens.revoke(caller.tokenId ?? '');
  };
  if (what.includes('before')) await end();
  const asked = push.service.subscribe(createBrowser().body(), agent(caller));
  const ended = end();
  await expect(asked).rejects.toMatchObject({ code: 'unauthenticated' });
  await ended;
  expect(push.targets.list()).toEqual([]);
  expect(await push.store.listKept('push_subscription')).toEqual([]);
});

test('[WP32] spellings of one endpoint are one subscription, also at the same time', async () => {
  const push = await setupPush();
  const caller = await push.person();
  const { endpoint, body } = createBrowser();
  const spellings = [
    endpoint,
    endpoint.replace('fcm.googleapis.com', 'FCM.googleapis.com:443'),
    endpoint.replace('/fcm/', '/./fcm/'),
  ];
  const made = await Promise.all(
    spellings.map((one) => push.service.subscribe(body({ endpoint: one }), agent(caller))),
  );
  expect(new Set(made.map(({ push_id }) => push_id)).size).toBe(1);
  expect(new Set(made.map((one) => one.endpoint_sha256)).size).toBe(1);
  expect((await push.store.listKept('push_subscription')).length).toBe(1);
});
