import { sha256Hex } from '#lib/util/sha256';

/** Why this browser cannot be sent notes; `ok`: it can, as far as is known without trying. */
export type PushSupport = 'ok' | 'insecure' | 'home_screen' | 'unsupported' | 'denied';

/** Why the browser did not subscribe. `dismissed`: the person closed its question. `service`: its push service was not reached. */
export type SubscribeProblem = 'denied' | 'dismissed' | 'service';

/** Which service worker shows the notes. */
export interface PushWorker {
  readonly script: string;
  readonly scope: string;
}

export const WORKBENCH_WORKER: PushWorker = { script: '/push/sw.js', scope: '/push/' };
export const DEVICE_WORKER: PushWorker = { script: '/device/sw.js', scope: '/device' };

/** What the server is sent of a subscription. */
export interface BrowserSubscription {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
}

/** An iPhone or iPad: what it offers is an app on its home screen. */
export const isApple = (): boolean =>
  /iPhone|iPad/.test(navigator.userAgent) ||
  // An iPad names itself a Mac, which has no touch screen.
  (/Macintosh/.test(navigator.userAgent) && navigator.maxTouchPoints > 1);

export function pushSupport(): PushSupport {
  if (!window.isSecureContext) return 'insecure';
  const isThere =
    'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window;
  if (!isThere) return isApple() ? 'home_screen' : 'unsupported';
  return Notification.permission === 'denied' ? 'denied' : 'ok';
}

/** The subscription that this browser has for the key; one for another key is of no use, and ended. */
export async function currentSubscription(
  worker: PushWorker,
  publicKey: string,
): Promise<BrowserSubscription | null> {
  const registration = await navigator.serviceWorker.getRegistration(worker.scope);
  const found = await registration?.pushManager.getSubscription();
  if (!found) return null;
  const { applicationServerKey } = found.options;
  if (applicationServerKey && toBase64url(applicationServerKey) !== publicKey) {
    await found.unsubscribe();
    return null;
  }
  return toJson(found);
}

/** Asks the person, where that is needed, and subscribes. To be called in answer to a click. */
export async function subscribeBrowser(
  worker: PushWorker,
  publicKey: string,
): Promise<BrowserSubscription | SubscribeProblem> {
  const permission = await Notification.requestPermission();
  if (permission !== 'granted') return permission === 'denied' ? 'denied' : 'dismissed';
  const current = await currentSubscription(worker, publicKey);
  if (current) return current;
  const registration = await activeRegistration(worker);
  try {
    const made = await registration.pushManager.subscribe({
      userVisibleOnly: true,
      applicationServerKey: publicKey,
    });
    return toJson(made) ?? 'service';
  } catch (error) {
    if (error instanceof DOMException && error.name === 'NotAllowedError') return 'denied';
    console.warn(`push: ${String(error)}`);
    return 'service';
  }
}

export async function unsubscribeBrowser({ scope }: PushWorker): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration(scope);
  const found = await registration?.pushManager.getSubscription();
  await found?.unsubscribe();
}

/** The same where it is not known whether there is one, nor whether there can be. Never rejects. */
export async function endPush(worker: PushWorker): Promise<void> {
  if (pushSupport() !== 'ok') return;
  await unsubscribeBrowser(worker).catch((error: unknown) =>
    console.warn(`push: ${String(error)}`),
  );
}

/** By this the server's list names it: of the one spelling that the server keeps. */
export const hashOfEndpoint = ({ endpoint }: BrowserSubscription): string =>
  sha256Hex(new TextEncoder().encode(new URL(endpoint).href));

async function activeRegistration({ script, scope }: PushWorker) {
  const registration = await navigator.serviceWorker.register(script, { scope });
  const worker = registration.installing ?? registration.waiting;
  if (registration.active || !worker) return registration;
  await new Promise<void>((resolve, reject) => {
    worker.addEventListener('statechange', () => {
      if (worker.state === 'activated') resolve();
      else if (worker.state === 'redundant') reject(new Error('the service worker did not start'));
    });
  });
  return registration;
}

function toJson(subscription: PushSubscription): BrowserSubscription | null {
  const { endpoint, keys } = subscription.toJSON();
  const { p256dh, auth } = keys ?? {};
  return endpoint && p256dh && auth ? { endpoint, keys: { p256dh, auth } } : null;
}

const toBase64url = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
