// @vitest-environment happy-dom
import { act, fireEvent, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import type { PushState, PushTestResult, WirePushSubscription } from '#lib/protocol/push';
import type { Role } from '#lib/protocol/role';
import { sha256Hex } from '#lib/util/sha256';
import { keepPushNotes, readPushChoice } from '../../providers/push-choice.ts';
import { PUSH_CHANGED } from '../../push/receive-push.ts';
import { KEYS, type StubbedBrowser, stubBrowser } from '../../push/testing/stub-browser.ts';
import {
  type Answer,
  createTestWorkbench,
  personWith,
  renderIn,
} from '../../tool-call/testing/in-workbench.tsx';
import { PushPage } from './push-page.tsx';

afterEach(() => localStorage.clear());

const NEW = 'https://fcm.googleapis.com/new';
const KEY = 'BA';

const wire = (endpoint: string, more: Partial<WirePushSubscription> = {}) => ({
  ...{ push_id: 'push_1', endpoint_sha256: sha256Hex(new TextEncoder().encode(endpoint)) },
  ...{ host: 'fcm.googleapis.com', browser: 'Chrome on Linux', kinds: ['approvals', 'failures'] },
  ...{ details: false, created_at: 1, expires_at: 604_800, last: null },
  ...more,
});

interface Given extends StubbedBrowser {
  readonly role?: Role;
  readonly locale?: 'en' | 'zh';
  readonly enabled?: boolean;
  readonly known?: WirePushSubscription[];
  readonly tested?: PushTestResult;
}

/** The page before a server that keeps what it is sent. */
async function setup({ role = 'operator', locale = 'en', known = [], ...given }: Given = {}) {
  const browser = stubBrowser({ key: new Uint8Array([4]), ...given });
  let subscriptions = known;
  const state = (): PushState => ({
    ...{ enabled: given.enabled ?? true, public_key: KEY, hosts: [], subscriptions },
  });
  const { workbench, sent } = createTestWorkbench(({ path, body }): Answer => {
    if (path === '/v1/push') return { body: state() };
    if (path === '/v1/push/test') return { body: given.tested };
    if (path === '/v1/push/subscriptions') {
      const { endpoint, kinds, details } = body as never;
      subscriptions = [wire(endpoint, { kinds, details }) as WirePushSubscription];
      return { body: subscriptions[0] };
    }
    subscriptions = [];
    return { body: { ok: true } };
  });
  workbench.me.setState({ me: personWith(role) });
  await act(async () => void renderIn(workbench, <PushPage />, locale));
  return { browser, workbench, sent };
}

const click = (name: string) =>
  act(async () => void fireEvent.click(screen.getByRole('button', { name })));
const sentTo = (sent: readonly { path: string; body: unknown }[], path: string) =>
  sent.filter((one) => one.path === path).map(({ body }) => body);

test.each([
  [{ isSecure: false }, 'Notifications need https. This page was opened by http.'],
  [{ hasPush: false }, 'Use a current Chrome, Edge, Firefox or Safari'],
  [
    { hasPush: false, userAgent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0) Safari' },
    'in Safari tap Share, then Add to Home Screen',
  ],
  [{ permission: 'denied' }, 'The browser blocks notifications of this page.'],
  [{ enabled: false }, 'push.enabled is false in its configuration'],
  [{ role: 'viewer' }, 'Your role is viewer'],
] as const)('[WP18] with %j the page says why not, and what is right', async (given, words) => {
  await setup(given);
  expect(document.body.textContent).toContain(words);
  expect(screen.queryByRole('button', { name: 'Turn on' })).toBeNull();
});

test.each([
  [{ answer: 'denied' }, 'The browser blocks notifications of this page.'],
  [{ answer: 'default' }, 'closed without an answer. Try again, and choose Allow'],
  [{ isOnline: false }, 'this device needs the internet'],
] as const)('[WP18] where it fails with %j the page says what to do', async (given, words) => {
  const { sent } = await setup(given);
  await click('Turn on');
  expect(document.body.textContent).toContain(words);
  expect(sentTo(sent, '/v1/push/subscriptions')).toEqual([]);
});

test.each([
  ['unreachable', /could not reach fcm.googleapis.com.*webhook to ntfy/],
  ['timeout', /did not answer the server in time/],
  ['busy', /is busy/],
  ['redirected', /is not followed/],
  ['refused', /refused the note \(status 403\)/],
] as const)('[WP18] a test that failed as %s says what would be right', async (reason, words) => {
  const status = reason === 'refused' ? 403 : null;
  await setup({
    endpoint: NEW,
    permission: 'granted',
    known: [wire(NEW) as WirePushSubscription],
    tested: { outcome: 'failed', status, reason },
  });
  await click('Send a test');
  expect(screen.getByRole('status').textContent).toMatch(words);
});

test('[WP22] turning on sends what was chosen, which is changed at once and turned off again', async () => {
  const { sent, browser, workbench } = await setup({ locale: 'zh' });
  await act(async () => void fireEvent.click(screen.getByLabelText('显示名称')));
  await click('开启');
  const first = { endpoint: NEW, keys: KEYS, locale: 'zh', kinds: ['approvals', 'failures'] };
  expect(sentTo(sent, '/v1/push/subscriptions')).toEqual([{ ...first, details: true }]);
  expect(browser.registered).toEqual([['/push/sw.js', { scope: '/push/' }]]);
  expect(document.body.textContent).toContain('此浏览器会收到通知。');
  await act(async () => void fireEvent.click(screen.getByLabelText('失败的调用和对话')));
  const second = { locale: 'zh', kinds: ['approvals'], details: true };
  expect(sentTo(sent, '/v1/push/subscriptions')[1]).toMatchObject(second);
  expect(readPushChoice(workbench)).toEqual(second);
  await click('关闭');
  expect([browser.current(), readPushChoice(workbench)]).toEqual([null, null]);
  expect(sent.map(({ path }) => path)).toContain('/v1/push/subscriptions/push_1');
});

test('[WP21] [WP22] each load registers the browser anew, and so does a page once the browser has another', async () => {
  const { workbench, sent, browser } = await setup({ answer: 'granted' });
  await click('Turn on');
  const registered = () => sentTo(sent, '/v1/push/subscriptions').length;
  const end = keepPushNotes(workbench);
  workbench.me.setState({ me: null });
  workbench.me.setState({ me: personWith('operator') });
  await vi.waitFor(() => expect(registered()).toBe(2));
  browser.post(PUSH_CHANGED);
  await vi.waitFor(() => expect(registered()).toBe(3));
  browser.post('another message');
  end();
  // For another person what was chosen here does not count.
  workbench.me.setState({ me: { ...personWith('operator'), token_id: 'tok_next' } });
  expect(readPushChoice(workbench)).toBeNull();
  expect(registered()).toBe(3);
});

test('[WP21] a subscription for another key of the server is ended', async () => {
  const { browser } = await setup({ endpoint: NEW, key: new Uint8Array([5]) });
  expect(browser.current()).toBeNull();
  expect(screen.getByRole('button', { name: 'Turn on' })).toBeDefined();
});

test('[WP18] each browser is listed with what became of its last note, and can be removed', async () => {
  const last = { at: 60, outcome: 'failed', status: null, reason: 'unreachable' } as const;
  const other = wire('https://fcm.googleapis.com/other', { last }) as WirePushSubscription;
  const { sent } = await setup({ known: [other] });
  expect(screen.getByRole('listitem').textContent).toContain('Last note: failed');
  await click('Remove Chrome on Linux');
  expect(sent.map(({ path }) => path)).toContain('/v1/push/subscriptions/push_1');
  expect(document.body.textContent).toContain('None of your browsers gets notifications.');
});
