import { createSessionFetch, type PageFetch } from '#lib/api/send-request';
import { PROTOCOL, toCredentialProtocol } from '#lib/protocol/subprotocols';
import { followServerClock } from '../ui/server-clock.ts';
import { browserMemory } from './stored-text.ts';

const KEY = 'callboard:session';

/**
 * The second secret of this browser's sign-in. Cookies go to every port of the
 * host, this storage belongs to our origin alone; all its tabs share it.
 */
const readKey = () => browserMemory.read(KEY);

/** False where the browser keeps nothing: then this page is not signed in. */
export function keepSessionKey(key: string): boolean {
  browserMemory.write(KEY, key);
  return readKey() === key;
}

export const hasSessionKey = (): boolean => readKey() !== null;

/** Called when another tab has signed in or out. Returns a function that unsubscribes. */
export function onSessionKey(listener: () => void): () => void {
  const onStorage = ({ key }: StorageEvent) => (key === KEY || key === null) && listener();
  window.addEventListener('storage', onStorage);
  return () => window.removeEventListener('storage', onStorage);
}

export const forgetSessionKey = (): void => browserMemory.write(KEY, null);

/** For paths of our own API. */
export const pageFetch: PageFetch = (url, init) =>
  followServerClock(
    createSessionFetch({ fetch: (...asked) => fetch(...asked), origin: location.origin, readKey }),
  )(url, init);

/** What a socket of this page offers. Asked anew for each. */
export function pageProtocols(): readonly string[] {
  const key = readKey();
  return key === null ? [PROTOCOL] : [PROTOCOL, toCredentialProtocol('session', key)];
}

/** The bytes under one of our addresses; rejects when they cannot be had. */
export async function readBlob(path: string, signal?: AbortSignal): Promise<Blob> {
  const response = await pageFetch(path, signal ? { signal } : {});
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return response.blob();
}
