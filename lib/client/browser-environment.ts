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
import { createFixedInstanceId, createInstanceId, type InstanceId } from './instance-id.ts';
import { createJournal, type Journal, type JournalChange, type JournalEntry } from './journal.ts';
import type { ClientEnvironment } from './transports.ts';

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
    random: Math.random,
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
      // The caller that sets a text has it as well.
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

const DATABASE = 'callboard-journal';
/** Instances that were not opened for this long are given up: their tab does not come back. */
const ABANDONED_MS = 30 * 24 * 60 * 60_000;

interface StoredEntry {
  readonly instance: string;
  readonly id: string;
  readonly order: number;
  readonly entry: JournalEntry;
}
interface StoredInstance {
  readonly instance: string;
  readonly epoch: string;
  readonly openedAt: number;
}

/**
 * A journal on a browser's disk, each write flushed before it counts (Chrome's
 * default is not). One database for all instances, each with its own entries.
 */
export async function openIndexedDbJournal({
  indexedDb,
  instanceId,
  newId,
  now,
  maxBytes,
}: {
  indexedDb: IDBFactory;
  instanceId: string;
  newId: () => string;
  now: () => number;
  maxBytes?: number;
}): Promise<Journal> {
  const database = await openDatabase(indexedDb);
  const write = () => database.transaction(['entries', 'instances'], 'readwrite', STRICT);
  const epoch = await openInstance(write(), {
    instance: instanceId,
    epoch: newId(),
    openedAt: now(),
  });
  const stored = await readAll(database, instanceId);
  let order = stored.at(-1)?.order ?? 0;
  const disk = {
    epoch,
    entries: stored.map(({ entry }) => entry),
    write({ put: entry, deleted }: JournalChange) {
      const transaction = write();
      const entries = transaction.objectStore('entries');
      order += 1;
      if (entry) entries.put({ instance: instanceId, id: entry.id, order, entry });
      for (const id of deleted) entries.delete([instanceId, id]);
      return committed(transaction);
    },
    close: () => database.close(),
  };
  return createJournal(disk, maxBytes);
}

const STRICT: IDBTransactionOptions = { durability: 'strict' };

function openDatabase(indexedDb: IDBFactory): Promise<IDBDatabase> {
  const request = indexedDb.open(DATABASE, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore('entries', { keyPath: ['instance', 'id'] });
    request.result.createObjectStore('instances', { keyPath: 'instance' });
  };
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Gives the instance's epoch, made now if it is new, and clears away abandoned instances. */
async function openInstance(transaction: IDBTransaction, opened: StoredInstance): Promise<string> {
  const instances = transaction.objectStore('instances');
  const entries = transaction.objectStore('entries');
  let { epoch } = opened;
  const request: IDBRequest<StoredInstance[]> = instances.getAll();
  request.onsuccess = () => {
    for (const one of request.result) {
      if (one.instance === opened.instance) epoch = one.epoch;
      else if (opened.openedAt - one.openedAt > ABANDONED_MS) {
        instances.delete(one.instance);
        entries.delete(ofInstance(one.instance));
      }
    }
    instances.put({ ...opened, epoch });
  };
  await committed(transaction);
  return epoch;
}

async function readAll(database: IDBDatabase, instance: string): Promise<StoredEntry[]> {
  const transaction = database.transaction('entries', 'readonly');
  const request: IDBRequest<StoredEntry[]> = transaction
    .objectStore('entries')
    .getAll(ofInstance(instance));
  await committed(transaction);
  return request.result.toSorted((a, b) => a.order - b.order);
}

/** In IndexedDB's order of keys an array comes after every string. */
const ofInstance = (instance: string): IDBKeyRange => IDBKeyRange.bound([instance], [instance, []]);

function committed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(transaction.error ?? new Error('the transaction was aborted'));
    transaction.oncomplete = () => resolve();
    transaction.onabort = fail;
    transaction.onerror = fail;
  });
}

const TOUCHES = ['pointerdown', 'keydown', 'focus'] as const;

/** Calls back when a person touches this page. Returns the function that ends it. */
export function listenToTouches(listener: () => void): () => void {
  const ended = new AbortController();
  const onEvent = ({ isTrusted, type, target }: Event) => {
    // An event that a script made up is not a person's, nor where it moves the focus to within the page.
    if (isTrusted && (type !== 'focus' || target === window)) listener();
  };
  const options = { signal: ended.signal, capture: true, passive: true };
  for (const event of TOUCHES) window.addEventListener(event, onEvent, options);
  return () => ended.abort();
}
