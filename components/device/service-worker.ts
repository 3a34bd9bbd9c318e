import { receivePush } from '../push/receive-push.ts';
import type { WorkerScope } from '../push/worker-scope.ts';

/** Names of the files without which the page cannot start; set by the build. */
declare const SHELL_FILES: readonly string[];

// What this file runs in.
const worker = globalThis as unknown as WorkerScope;

const PAGE = '/device';
const PREFIX = 'callboard-device-';
/** By the names of the files, which their content makes. */
const CACHE = PREFIX + SHELL_FILES.join();

worker.addEventListener('install', (event) => {
  const fill = async () => {
    const cache = await caches.open(CACHE);
    await cache.addAll([PAGE, ...SHELL_FILES]);
    await worker.skipWaiting();
  };
  event.waitUntil(fill());
});

worker.addEventListener('activate', (event) => {
  const clean = async () => {
    const names = await caches.keys();
    const old = names.filter((name) => name.startsWith(PREFIX) && name !== CACHE);
    await Promise.all(old.map((name) => caches.delete(name)));
    await worker.clients.claim();
  };
  event.waitUntil(clean());
});

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const { pathname, origin } = new URL(request.url);
  if (request.method !== 'GET' || origin !== worker.location.origin) return;
  // Nothing else is answered from here: no API, no socket, no page of the workbench.
  if (pathname === PAGE && request.mode === 'navigate') event.respondWith(fromNetwork(request));
  else if (pathname.startsWith('/device/assets/')) event.respondWith(fromCache(request));
});

receivePush(worker, PAGE);

worker.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(showPage());
});

/** The window of the device, which may have been opened by the link that paired it; else a new one. */
async function showPage(): Promise<void> {
  const windows = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const startsWith = (start: string) =>
    windows.find(({ url }) => new URL(url).pathname.startsWith(start));
  const open = startsWith(PAGE) ?? startsWith('/pair');
  await (open ? open.focus() : worker.clients.openWindow(PAGE));
}

/** The page itself: a new build is seen at once, and without a network the last one opens. */
async function fromNetwork(request: Request): Promise<Response> {
  const cache = await caches.open(CACHE);
  try {
    const fresh = await fetch(request);
    if (fresh.ok) await cache.put(PAGE, fresh.clone());
    return fresh;
  } catch (error) {
    const kept = await cache.match(PAGE);
    if (kept) return kept;
    throw error;
  }
}

/** Their names change with their content. */
async function fromCache(request: Request): Promise<Response> {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(request);
  if (kept) return kept;
  const fresh = await fetch(request);
  if (fresh.ok) await cache.put(request, fresh.clone());
  return fresh;
}
