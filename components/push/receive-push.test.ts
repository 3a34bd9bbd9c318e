import { expect, test } from 'vitest';
import { PUSH_CHANGED, pathOf, receivePush, showWindow } from './receive-push.ts';
import type { ChangeEvent, ClickEvent, WorkerScope } from './worker-scope.ts';

const ORIGIN = 'https://board.example';

/** A service worker that keeps what it is asked to do. */
function createWorker(urls: readonly string[] = []) {
  const asked: unknown[][] = [];
  const listeners = new Map<string, (event: never) => void>();
  const note = (...what: unknown[]) => void asked.push(what);
  const windows = urls.map((url) => ({
    url: ORIGIN + url,
    focus: async () => note('focus', url),
    postMessage: (message: unknown) => note('post', url, message),
  }));
  const worker = {
    addEventListener: (type: string, listener: (event: never) => void) =>
      void listeners.set(type, listener),
    registration: {
      showNotification: async (title: string, options: object) => note('show', title, options),
      pushManager: { subscribe: async (options: object) => note('subscribe', options) },
    },
    clients: {
      matchAll: async () => windows,
      openWindow: async (url: string) => note('open', url),
    },
    location: { origin: ORIGIN },
  } as unknown as WorkerScope;
  receivePush(worker, '/home');
  /** Resolves when the work of the event is done. */
  const fire = async (type: string, event: object) => {
    const work: Promise<unknown>[] = [];
    const waitUntil = (one: Promise<unknown>) => void work.push(one);
    listeners.get(type)?.({ ...event, waitUntil } as never);
    await Promise.all(work);
  };
  return { worker, asked, fire };
}

const pushOf = (text: string) => ({ data: { text: () => text } });

test('[WP19] a note is shown as it was sent, and a quiet one without sound', async () => {
  const { fire, asked } = createWorker();
  const sent = {
    title: 'A call waits',
    body: 'Decide.',
    path: '/a',
    tag: 't',
    quiet: false,
    at: 5,
  };
  await fire('push', pushOf(JSON.stringify(sent)));
  await fire('push', pushOf(JSON.stringify({ ...sent, quiet: true })));
  const options = { body: 'Decide.', tag: 't', timestamp: 5, data: { path: '/a' } };
  expect(asked).toEqual([
    [
      'show',
      'A call waits',
      expect.objectContaining({ ...options, silent: false, renotify: true }),
    ],
    [
      'show',
      'A call waits',
      expect.objectContaining({ ...options, silent: true, renotify: false }),
    ],
  ]);
});

test.each(['', 'not JSON', 'null', '[1]', '{"title": 7, "tag": "", "path": {}, "at": "x"}'])(
  '[WP19] for the push %j something is shown as well',
  async (text) => {
    const { fire, asked } = createWorker();
    await fire('push', text === '' ? { data: null } : pushOf(text));
    expect(asked).toEqual([
      ['show', 'Callboard', expect.objectContaining({ tag: 'callboard', data: { path: '/home' } })],
    ]);
  },
);

test('[WP19] texts are cut to a length', async () => {
  const { fire, asked } = createWorker();
  await fire('push', pushOf(JSON.stringify({ title: 'x'.repeat(9_000), body: 'y'.repeat(9_000) })));
  expect(asked).toEqual([
    ['show', 'x'.repeat(200), expect.objectContaining({ body: 'y'.repeat(500) })],
  ]);
});

test.each([
  [{ path: '/approvals?call=tc_1#top' }, '/approvals?call=tc_1#top'],
  [{ path: 'https://evil.example/' }, '/home'],
  [{ path: '//evil.example/' }, '/home'],
  [{ path: 'javascript:alert(1)' }, '/home'],
  [{ path: 7 }, '/home'],
  [null, '/home'],
])('[WP20] a note with %j leads to %s', (data, path) => {
  const event = { notification: { data, close() {} } } as ClickEvent;
  expect(pathOf(event, ORIGIN, '/home')).toBe(path);
});

test('[WP20] the window that shows the page comes to the front, else one opens', async () => {
  const { worker, asked } = createWorker(['/tools', '/approvals']);
  await showWindow(worker, '/approvals');
  await showWindow(worker, '/approvals?call=tc_1');
  expect(asked).toEqual([
    ['focus', '/approvals'],
    ['open', '/approvals?call=tc_1'],
  ]);
});

test('[WP21] a subscription that the browser exchanges is taken up, and open pages learn of it', async () => {
  const { fire, asked } = createWorker(['/tools']);
  const applicationServerKey = new Uint8Array([4]).buffer;
  const old = { options: { applicationServerKey } } as unknown as PushSubscription;
  await fire('pushsubscriptionchange', { oldSubscription: old } satisfies Partial<ChangeEvent>);
  expect(asked).toEqual([
    ['subscribe', { userVisibleOnly: true, applicationServerKey }],
    ['post', '/tools', PUSH_CHANGED],
  ]);
  asked.length = 0;
  await fire('pushsubscriptionchange', { oldSubscription: old, newSubscription: old });
  await fire('pushsubscriptionchange', {});
  expect(asked).toEqual([
    ['post', '/tools', PUSH_CHANGED],
    ['post', '/tools', PUSH_CHANGED],
  ]);
});
