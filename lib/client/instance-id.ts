import type { KeyValueStorage } from './client-identity.ts';
import type { ClientEnvironment } from './transports.ts';

/** The part of `navigator.locks` that is used here. */
export interface InstanceLocks {
  request(
    name: string,
    options: { signal: AbortSignal },
    whileHeld: () => Promise<void>,
  ): Promise<unknown>;
}

/** The id of this page; no two open pages have the same one. */
export interface InstanceId {
  /** The one from before a reload, or a new one when another page holds it. */
  take(): Promise<string>;
  /** A new one, after the server has closed our session for another page. */
  renew(): Promise<string>;
  release(): void;
}

const INSTANCE_KEY = 'callboard:instance';
/** A page that was just left may hold its lock for a moment longer. */
const LOCK_WAIT_MS = 500;

/**
 * `sessionStorage` survives a reload, but is copied into a duplicated tab; a
 * Web Lock on the id distinguishes the two (CL15). Where there are no locks, the
 * server does, by 4010.
 */
export function createInstanceId({
  storage,
  locks,
  environment: { newId, schedule },
}: {
  storage: KeyValueStorage;
  locks: InstanceLocks | undefined;
  environment: Pick<ClientEnvironment, 'newId' | 'schedule'>;
}): InstanceId {
  let releaseLock = () => {};

  async function hold(id: string): Promise<boolean> {
    // guard: instance-id-held-once
    if (!locks) return true;
    const tooLong = new AbortController();
    const stopTimer = schedule(LOCK_WAIT_MS, () => tooLong.abort());
    return new Promise((resolve) => {
      const held = () => {
        stopTimer();
        resolve(true);
        return new Promise<void>((release) => {
          releaseLock = release;
        });
      };
      // Rejects when the wait was aborted: then another page, of which this one is a duplicate, has the lock.
      locks.request(`callboard:instance:${id}`, { signal: tooLong.signal }, held).catch(() => {
        resolve(false);
      });
    });
  }

  async function adopt(id: string): Promise<string> {
    storage.setItem(INSTANCE_KEY, id);
    return id;
  }

  async function renew(): Promise<string> {
    releaseLock();
    const id = newId();
    await hold(id);
    return adopt(id);
  }

  return {
    renew,
    release: () => releaseLock(),
    async take() {
      const kept = storage.getItem(INSTANCE_KEY);
      return kept !== null && (await hold(kept)) ? adopt(kept) : renew();
    },
  };
}

/** For a program of which there is one, with an id of its own making. */
export const createFixedInstanceId = (newId: () => string, first = newId()): InstanceId => ({
  take: async () => first,
  renew: async () => newId(),
  release() {},
});
