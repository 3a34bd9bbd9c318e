import { createStreamSocket, type Fetch } from '../net/stream-socket.ts';
import { errorMessage } from '../util/error-message.ts';
import { randomId } from '../util/random-id.ts';
import { schedule } from '../util/schedule.ts';
import {
  type ClientIdentity,
  createMemoryIdentity,
  createStoredIdentity,
  type KeyValueStorage,
} from './client-identity.ts';
import type { ClientEnvironment } from './environment.ts';
import { openIndexedDbJournal } from './indexeddb-journal.ts';
import { createFixedInstanceId, createInstanceId, type InstanceId } from './instance-id.ts';
import type { Journal } from './journal.ts';

/** Events after which the page or its network may have been away: the socket is examined. */
const WAKE_EVENTS = [
  ['window', 'offline'],
  ['window', 'online'],
  ['window', 'pageshow'],
  ['window', 'focus'],
  ['document', 'visibilitychange'],
  ['document', 'resume'],
] as const;

/** All that `createToolClient` needs of a page. */
export interface BrowserParts {
  readonly environment: ClientEnvironment;
  readonly identity: ClientIdentity;
  readonly instanceId: InstanceId;
  openJournal(instanceId: string): Promise<Journal>;
}

/** The real browser. No other file of the client touches it. */
export function createBrowserParts({
  onProblem,
  protocols,
  scope,
}: {
  onProblem: (message: string) => void;
  protocols?: () => readonly string[];
  /**
   * The server's address, for a page that may have several: what one assigned, its tokens among
   * it, is not sent to another.
   */
  scope?: string;
}): BrowserParts {
  const environment = createBrowserEnvironment(protocols);
  const storages = findStorages(onProblem, scope);
  // In a page without a secure context `navigator.locks` is missing.
  const locks = 'locks' in navigator ? navigator.locks : undefined;
  return {
    environment,
    identity: storages
      ? createStoredIdentity({ shared: storages.local, own: storages.session })
      : createMemoryIdentity(),
    instanceId: storages
      ? createInstanceId({ storage: storages.session, locks, environment })
      : createFixedInstanceId(randomId),
    openJournal: async (instanceId) =>
      openIndexedDbJournal({ indexedDb: indexedDB, instanceId, now: Date.now, newId: randomId }),
  };
}

/**
 * Sockets, time and wake-ups of this page. `pageProtocols` gives subprotocols that each socket, or
 * the stream in its place, offers as well; it is called for each, since a page may be signed in anew between two.
 */
export function createBrowserEnvironment(
  pageProtocols: () => readonly string[] = () => [],
): ClientEnvironment {
  // A method of the window, which works on nothing else.
  const ask: Fetch = (url, init) => fetch(url, init);
  return {
    openSocket: (url, protocols) => new WebSocket(url, [...protocols, ...pageProtocols()]),
    byRequests: {
      fetch: ask,
      openStream: (url, protocols) =>
        createStreamSocket(ask, url, [...protocols, ...pageProtocols()]),
    },
    now: () => Date.now(),
    schedule,
    random: () => Math.random(),
    newId: randomId,
    onWake(listener) {
      // `visibilitychange` comes as well when a page is hidden, which does not wake it up.
      const onEvent = ({ type }: Event) => {
        if (type !== 'visibilitychange' || document.visibilityState === 'visible') listener();
      };
      const targets = { window, document };
      for (const [target, event] of WAKE_EVENTS) targets[target].addEventListener(event, onEvent);
      return () => {
        for (const [target, event] of WAKE_EVENTS)
          targets[target].removeEventListener(event, onEvent);
      };
    },
    onPutAway(listener) {
      const onPageHide = ({ persisted }: PageTransitionEvent) => {
        if (persisted) listener();
      };
      window.addEventListener('pagehide', onPageHide);
      return () => window.removeEventListener('pagehide', onPageHide);
    },
  };
}

/** Undefined where the page may not store anything: reading the property itself throws there. */
function findStorages(
  onProblem: (message: string) => void,
  scope: string | undefined,
): { local: KeyValueStorage; session: KeyValueStorage } | undefined {
  try {
    return { local: scoped(localStorage, scope), session: scoped(sessionStorage, scope) };
  } catch (error) {
    onProblem(`no storage, this page is a new client each time: ${errorMessage(error)}`);
    return undefined;
  }
}

/** A text of all pages of this origin, by its key; none where they may not store anything. */
export function keptText(key: string) {
  const storage = (act: 'getItem' | 'setItem' | 'removeItem', text = ''): string | null => {
    try {
      return localStorage[act](key, text) ?? null;
    } catch {
      // Who sets it has it as well.
      return null;
    }
  };
  return {
    get: () => storage('getItem'),
    set: (text: string) => void storage('setItem', text),
    remove: () => void storage('removeItem'),
  };
}

function scoped(storage: Storage, scope: string | undefined): KeyValueStorage {
  if (scope === undefined) return storage;
  const keyOf = (key: string) => `${key}@${scope}`;
  return {
    getItem: (key) => storage.getItem(keyOf(key)),
    setItem: (key, value) => storage.setItem(keyOf(key), value),
    removeItem: (key) => storage.removeItem(keyOf(key)),
  };
}
