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

const wire = {
  ...{ push_id: 'push_1', endpoint_sha256: '', host: 'fcm.googleapis.com', browser: '' },
  ...{ details: false, created_at: 1, expires_at: 2, last: null },
};
