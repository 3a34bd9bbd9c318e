import { vi } from 'vitest';

export interface StubbedBrowser {
  readonly isSecure?: boolean;
  readonly hasPush?: boolean;
  readonly permission?: NotificationPermission;
  /** What the person answers to the browser's question. */
  readonly answer?: NotificationPermission;
  /** Whether the browser reaches its push service. */
  readonly isOnline?: boolean;
  readonly userAgent?: string;
  /** That it has already. */
  readonly endpoint?: string;
  /** With which key that was made. */
  readonly key?: Uint8Array<ArrayBuffer>;
}

export const KEYS = { p256dh: 'BA', auth: 'AA' };

/** A browser with Web Push, or without some of it; `vi.unstubAllGlobals` ends it. */
export function stubBrowser({
  isSecure = true,
  hasPush = true,
  permission = 'default',
  answer = 'granted',
  isOnline = true,
  userAgent = 'Mozilla/5.0 (X11; Linux) Chrome/140.0',
  endpoint: before,
  key = new Uint8Array([4]),
}: StubbedBrowser = {}) {
  const listeners = new Set<(event: { data: unknown }) => void>();
  const registered: unknown[] = [];
  let endpoint = before ?? null;
  const current = () =>
    endpoint === null
      ? null
      : {
          options: { applicationServerKey: key.buffer },
          toJSON: () => ({ endpoint, keys: KEYS }),
          unsubscribe: async () => {
            endpoint = null;
          },
        };
  const pushManager = {
    getSubscription: async () => current(),
    async subscribe() {
      if (!isOnline) throw new DOMException('push service not available', 'AbortError');
      endpoint = 'https://fcm.googleapis.com/new';
      return current();
    },
  };
  const registration = { active: {}, installing: null, waiting: null, pushManager };
  const notification = {
    permission,
    async requestPermission() {
      notification.permission = answer;
      return answer;
    },
  };
  const serviceWorker = {
    getRegistration: async () => registration,
    async register(...asked: unknown[]) {
      registered.push(asked);
      return registration;
    },
    addEventListener: (_type: string, listener: (event: { data: unknown }) => void) =>
      void listeners.add(listener),
    removeEventListener: (_type: string, listener: (event: { data: unknown }) => void) =>
      void listeners.delete(listener),
  };
  vi.stubGlobal('isSecureContext', isSecure);
  vi.stubGlobal('navigator', { userAgent, maxTouchPoints: 0, ...(hasPush && { serviceWorker }) });
  vi.stubGlobal('PushManager', undefined);
  Reflect.deleteProperty(window, 'PushManager');
  vi.stubGlobal('Notification', notification);
  if (hasPush) vi.stubGlobal('PushManager', class {});
  return {
    registered,
    current,
    /** From a service worker. */
    post: (data: unknown) => {
      for (const listener of listeners) listener({ data });
    },
  };
}
