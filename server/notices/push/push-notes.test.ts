import { expect, test } from 'vitest';
import type { Notice } from '#lib/protocol/notice';
import { decided, finished, requested, setupPush } from './testing/setup-push.ts';
import { lastRequest, send, subscribed } from './testing/subscribed.ts';

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

test('[WP10] [OB30] of a flood of failures five are sent, then one a minute, and a question takes none', async () => {
  const push = await setupPush();
  const { pushId } = await subscribed(push);
  const notices = Array.from({ length: 20 }, (_, index) =>
    finished(push.clock.now(), 'tool_error', `evt_${index}`),
  );
  const admitted = () => notices.filter((one) => push.targetOf(pushId)?.admit?.(one)).length;
  expect(notices.filter((one) => push.targetOf(pushId)?.wants(one)).length).toBe(20);
  expect(admitted()).toBe(5);
  push.clock.advance(60_000);
  expect(admitted()).toBe(1);
  expect(push.targetOf(pushId)?.admit?.(requested(push.clock.now()))).toBe(true);
});
