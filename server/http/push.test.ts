import { expect, test } from 'vitest';
import type { PushService } from '../notices/push/open-push.ts';
import { createBrowser } from '../notices/push/testing/fake-push-service.ts';
import { fakePush } from './testing/fake-services.ts';
import { startTestServer, TOKENS } from './testing/start-test-server.ts';

test('[WP17] devices and people use the same requests, each under a path of their own', async () => {
  const asked: unknown[] = [];
  const push: PushService = {
    ...fakePush,
    async subscribe(body, { caller, userAgent }) {
      asked.push([caller.kind, userAgent, body.kinds]);
      return { ...wire, kinds: body.kinds };
    },
    async unsubscribe(pushId, { kind }) {
      asked.push([kind, pushId]);
    },
  };
  const server = await startTestServer({ deps: { push } });
  const { endpoint, keys } = createBrowser().body();
  const headers = { 'user-agent': 'Phone' };
  for (const [path, token] of [
    ['/v1/push', TOKENS.colleague],
    ['/internal/push', TOKENS.device],
  ] as const) {
    const asking = { token, headers };
    expect((await server.get(path, asking)).json).toMatchObject({ public_key: 'key' });
    const made = await server.post(`${path}/subscriptions`, { endpoint, keys }, asking);
    expect([made.status, made.json.push_id]).toEqual([200, 'push_1']);
    expect((await server.ask('DELETE', `${path}/subscriptions/push_1`, asking)).status).toBe(200);
  }
  expect(server.audited.map(({ act, actor, target }) => `${actor} ${act} ${target}`)).toEqual([
    ...['operator:olga push_subscribed push_1', 'operator:olga push_unsubscribed push_1'],
    ...['device:client_1 push_subscribed push_1', 'device:client_1 push_unsubscribed push_1'],
  ]);
  expect(asked).toEqual([
    ['operator', 'Phone', ['approvals', 'failures']],
    ['operator', 'push_1'],
    ['device', 'Phone', ['approvals', 'failures']],
    ['device', 'push_1'],
  ]);
});

test('[WP17] a device is refused at the path of people, a viewer reads alone, a program neither', async () => {
  const server = await startTestServer();
  const status = async (method: string, path: string, token: string) =>
    (await server.ask(method, path, { token, ...(method === 'GET' ? {} : { body: {} }) })).status;
  expect(await status('GET', '/v1/push', TOKENS.device)).toBe(403);
  expect(await status('GET', '/v1/push', TOKENS.viewer)).toBe(200);
  expect(await status('POST', '/v1/push/test', TOKENS.viewer)).toBe(403);
  for (const path of ['/v1/push', '/internal/push']) {
    expect(await status('GET', path, TOKENS.agent)).toBe(403);
  }
});

test.each([
  [{ endpoint: '' }, 'endpoint'],
  [{ endpoint: 'x'.repeat(1_025) }, 'endpoint'],
  [{ keys: { p256dh: '???', auth: 'AA' } }, 'keys.p256dh'],
  [{ kinds: [] }, 'kinds'],
  [{ kinds: ['all'] }, 'kinds.0'],
  [{ expirationTime: null }, ''],
])('[WP3] a body with %j is refused, with the place', async (change, path) => {
  const server = await startTestServer();
  const { endpoint, keys } = createBrowser().body();
  const body = { endpoint, keys, ...change };
  const { status, json } = await server.post('/v1/push/subscriptions', body);
  expect([status, json.error.details[0].path]).toEqual([400, path]);
});

const wire = {
  ...{ push_id: 'push_1', endpoint_sha256: '', host: 'fcm.googleapis.com', browser: '' },
  ...{ details: false, created_at: 1, expires_at: 2, last: null },
};
