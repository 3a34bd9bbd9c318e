import type { Journal, JournalEntry } from './journal.ts';
import { JOURNAL_BYTES } from './journal.ts';
import { journalOverflow, storedBytes } from './journal-overflow.ts';

const DATABASE = 'callboard-journal';
/** Instances that were not opened for this long are given up: their tab does not come back. */
const ABANDONED_MS = 30 * 24 * 60 * 60_000;

interface StoredEntry {
  readonly instance: string;
  readonly id: string;
  readonly order: number;
  readonly bytes: number;
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
  maxBytes = JOURNAL_BYTES,
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
  // The sizes are kept here, so that no write has to read the others' contents.
  const sizes = new Map(stored.map((one) => [one.id, toSize(one)]));
  let order = stored.at(-1)?.order ?? 0;

  return {
    epoch,
    entries: async () => (await readAll(database, instanceId)).map(({ entry }) => entry),
    put(entry) {
      order += 1;
      const { id } = entry;
      const one = { instance: instanceId, id, order, bytes: storedBytes(entry), entry };
      sizes.delete(id);
      sizes.set(id, toSize(one));
      const dropped = journalOverflow([...sizes.values()], maxBytes);
      for (const old of dropped) sizes.delete(old);
      const transaction = write();
      const entries = transaction.objectStore('entries');
      entries.put(one);
      for (const old of dropped) entries.delete([instanceId, old]);
      return committed(transaction);
    },
    delete(id) {
      sizes.delete(id);
      const transaction = write();
      transaction.objectStore('entries').delete([instanceId, id]);
      return committed(transaction);
    },
    close: () => database.close(),
  };
}

const STRICT: IDBTransactionOptions = { durability: 'strict' };

const toSize = ({ id, bytes, entry }: StoredEntry) => ({
  id,
  bytes,
  droppable: entry.repeatable && entry.answer !== null,
});

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
