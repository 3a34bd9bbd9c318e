// Runs in service workers, with no page around it: nothing of React, and no package.

import { parseUrl } from '#lib/client/page/parse-url';
import type { PushText } from '#lib/protocol/push';
import type { ChangeEvent, ClickEvent, WorkerScope } from './worker-scope.ts';

/** Sent to open pages once the browser has another subscription: the server does not have that one yet. */
export const PUSH_CHANGED = 'callboard:push-changed';

/**
 * Shows what the server sends. For each push something is shown: a browser takes the permission away
 * from a site that does not. `home`: where a note leads that names no page.
 */
export function receivePush(worker: WorkerScope, home: string): void {
  worker.addEventListener('push', (event) => {
    const { title, body, path, tag, quiet, at } = readNote(event.data?.text() ?? '', home);
    const options: NotificationOptions & { renotify: boolean; timestamp: number } = {
      body,
      tag,
      silent: quiet,
      renotify: !quiet,
      timestamp: at,
      icon: '/device/icon-192.png',
      data: { path },
    };
    event.waitUntil(worker.registration.showNotification(title, options));
  });
  worker.addEventListener('pushsubscriptionchange', (event) => {
    event.waitUntil(renew(worker, event));
  });
}

/** Anything may be in it that is not from our server; it is shown as a note that says nothing. */
function readNote(text: string, home: string): Omit<PushText, 'v'> {
  const sent = parse(text);
  const string = (name: string, otherwise: string, most: number) => {
    const value = sent[name];
    return typeof value === 'string' && value !== '' ? value.slice(0, most) : otherwise;
  };
  return {
    title: string('title', 'Callboard', 200),
    body: string('body', '', 500),
    path: string('path', home, 1_024),
    tag: string('tag', 'callboard', 64),
    quiet: sent.quiet === true,
    at: typeof sent.at === 'number' && Number.isFinite(sent.at) ? sent.at : Date.now(),
  };
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** Where a note leads: a page of this origin, or `home`. */
export function pathOf({ notification }: ClickEvent, origin: string, home: string): string {
  const { data } = notification;
  const path = typeof data === 'object' && data !== null && 'path' in data ? data.path : undefined;
  const url = typeof path === 'string' ? parseUrl(path, origin) : undefined;
  return url?.origin === origin ? url.pathname + url.search + url.hash : home;
}

/** The window that shows this page is brought to the front; without one, a new one opens. */
export async function showWindow({ clients, location }: WorkerScope, path: string): Promise<void> {
  const { href } = new URL(path, location.origin);
  const windows = await clients.matchAll({ type: 'window', includeUncontrolled: true });
  const open = windows.find(({ url }) => url === href);
  await (open ? open.focus() : clients.openWindow(path));
}

/**
 * The browser has given up the subscription and takes another. The worker has no credential to send
 * it with: an open page does that, or the next one that is opened.
 */
async function renew({ registration, clients }: WorkerScope, event: ChangeEvent): Promise<void> {
  const { applicationServerKey } = (event.oldSubscription ?? event.newSubscription)?.options ?? {};
  if (!event.newSubscription && applicationServerKey) {
    await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
  }
  const windows = await clients.matchAll({ type: 'window', includeUncontrolled: true });
  for (const window of windows) window.postMessage(PUSH_CHANGED);
}
