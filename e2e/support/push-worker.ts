import type { BrowserContext, Page, Worker } from '@playwright/test';

/**
 * A browser whose push service is none: what it gives out has the form of a real subscription, with
 * real keys, of an address that is reached by the internet alone.
 */
export const stubPushService = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const KEY = 'test:push';
    const encode = (bytes: ArrayBuffer) =>
      btoa(String.fromCharCode(...new Uint8Array(bytes)))
        .replaceAll('+', '-')
        .replaceAll('/', '_')
        .replace(/=+$/, '');
    const current = () => {
      const kept = JSON.parse(localStorage.getItem(KEY) ?? 'null');
      const unsubscribe = async () => localStorage.removeItem(KEY);
      return kept && { options: {}, toJSON: () => kept, unsubscribe };
    };
    Object.assign(PushManager.prototype, {
      getSubscription: async () => current(),
      subscribe: async () => {
        const pair = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, [
          'deriveBits',
        ]);
        const p256dh = encode(await crypto.subtle.exportKey('raw', pair.publicKey));
        const auth = encode(crypto.getRandomValues(new Uint8Array(16)).buffer);
        const endpoint = `https://fcm.googleapis.com/fcm/send/${crypto.randomUUID()}`;
        localStorage.setItem(KEY, JSON.stringify({ endpoint, keys: { p256dh, auth } }));
        return current();
      },
    });
  });

interface ShowingScope {
  registration: ServiceWorkerRegistration;
  shown: Promise<void>;
}

/**
 * Hands a decrypted message to the service worker of a scope, as the browser does, and waits until
 * its note is shown: Chromium forgets a note when it is asked for its notes in the middle of showing
 * one (measured: 15 of 280 were lost so, and none of 200 with this wait).
 */
export async function deliverPush(page: Page, scope: string, text: string): Promise<void> {
  const worker = await activeWorker(page.context(), `${scope.replace(/\/$/, '')}/sw.js`);
  await worker.evaluate(() => {
    const own = globalThis as unknown as ShowingScope;
    const { registration } = own;
    const { showNotification } = ServiceWorkerRegistration.prototype;
    own.shown = new Promise((resolve, reject) => {
      registration.showNotification = (...note) => {
        const showing = showNotification.apply(registration, note);
        showing.then(resolve, reject);
        return showing;
      };
    });
  });
  const cdp = await page.context().newCDPSession(page);
  const { origin } = new URL(page.url());
  const found = new Promise<string>((resolve) => {
    cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const one = registrations.find(({ scopeURL }) => scopeURL === origin + scope);
      if (one) resolve(one.registrationId);
    });
  });
  await cdp.send('ServiceWorker.enable');
  await cdp.send('ServiceWorker.deliverPushMessage', {
    ...{ origin, data: text },
    registrationId: await found,
  });
  await worker.evaluate(() => (globalThis as unknown as ShowingScope).shown);
}

/** A page may have registered it a moment ago. */
async function activeWorker(context: BrowserContext, script: string): Promise<Worker> {
  const isIt = (worker: Worker) => new URL(worker.url()).pathname === script;
  const known = context.serviceWorkers().find(isIt);
  return known ?? context.waitForEvent('serviceworker', { predicate: isIt });
}

export interface ShownNote {
  readonly title: string;
  readonly body: string;
  readonly tag: string;
  readonly silent: boolean | null;
}

/** The notes of a scope that the system shows. */
export const shownNotes = (page: Page, scope: string): Promise<ShownNote[]> =>
  page.evaluate(async (place) => {
    const registration = await navigator.serviceWorker.getRegistration(place);
    const notes = (await registration?.getNotifications()) ?? [];
    return notes.map(({ title, body, tag, silent }) => ({ title, body, tag, silent }));
  }, scope);

/** Taps the first note; a browser lets a real tap alone move the focus, so what would be asked of it is noted. */
export async function tapNote(context: BrowserContext, script: string) {
  const worker = await activeWorker(context, script);
  return worker.evaluate(async () => {
    const scope = globalThis as unknown as {
      registration: ServiceWorkerRegistration;
      clients: { openWindow(url: string): Promise<null> };
      WindowClient: { prototype: { url: string; focus(): Promise<void> } };
      NotificationEvent: new (type: string, init: object) => Event;
    };
    const asked: string[] = [];
    scope.clients.openWindow = async (url) => {
      asked.push(`open ${url}`);
      return null;
    };
    scope.WindowClient.prototype.focus = async function () {
      asked.push(`focus ${new URL(this.url).pathname}`);
    };
    const [notification] = await scope.registration.getNotifications();
    const event = new scope.NotificationEvent('notificationclick', { notification });
    const work: Promise<unknown>[] = [];
    Object.assign(event, { waitUntil: (one: Promise<unknown>) => work.push(one) });
    dispatchEvent(event);
    await Promise.all(work);
    return { asked, left: (await scope.registration.getNotifications()).length };
  });
}

/** How many windows the service worker of that script finds: one that was left stays for a moment. */
export async function windowsOf(context: BrowserContext, script: string): Promise<number> {
  const worker = await activeWorker(context, script);
  return worker.evaluate(async () => {
    const { clients } = globalThis as unknown as {
      clients: { matchAll(options: object): Promise<unknown[]> };
    };
    return (await clients.matchAll({ type: 'window', includeUncontrolled: true })).length;
  });
}
