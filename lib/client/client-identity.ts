import { isRecord } from '../json/is-record.ts';
import { readJson } from '../json/parse-json.ts';
import { toBase64 } from '../util/base64.ts';

/** The server's ids and tokens of this client, kept so that it can return as the same client. */
export interface ClientIdentity {
  /** Undefined before the server has assigned one. */
  clientId(): string | undefined;
  /**
   * Proves that we are that client; changes with each welcome. Where it is not
   * that of this instance, it proves the client alone.
   */
  resumeToken(instanceId: string | undefined): string | undefined;
  save(known: KnownIdentity): void;
}

/** The content of a welcome, and the instance that it was for. */
export interface KnownIdentity {
  readonly clientId: string;
  readonly resumeToken: string;
  readonly instanceId: string | undefined;
}

/** The part of the Web Storage API that is used here. */
export type KeyValueStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

const KEY = 'callboard:client';

/**
 * Tabs of one browser share a client id; the token is each tab's own, for it
 * stands for one instance of the client. The newest lies where all tabs read it,
 * since the server assigns an existing client id only to a client that proves it. A
 * tab that was assigned an id of its own keeps it, whatever the others do (CL16).
 */
export function createStoredIdentity({
  shared,
  own,
}: {
  /** All tabs share it: `localStorage`. */
  shared: KeyValueStorage;
  /** This tab has it alone: `sessionStorage`. */
  own: KeyValueStorage;
}): ClientIdentity {
  /** One item each, so that no tab reads the id of one client with the token of another. */
  const mine = () => read(own);
  const newest = () => read(shared);

  return {
    clientId: () => (mine() ?? newest())?.clientId,
    resumeToken(instanceId) {
      const [tab, browser] = [mine(), newest()];
      const isCurrent = tab === undefined || tab.clientId === browser?.clientId;
      // A duplicated tab has a copy of a token of another instance, which may be void.
      return tab?.instanceId !== instanceId && isCurrent ? browser?.resumeToken : tab?.resumeToken;
    },
    save(known) {
      const text = JSON.stringify(known);
      own.setItem(KEY, text);
      shared.setItem(KEY, text);
    },
  };
}

function read(storage: KeyValueStorage): KnownIdentity | undefined {
  // An older version kept a plain text.
  const kept = readJson(storage.getItem(KEY) ?? 'null');
  if (!isRecord(kept)) return undefined;
  const { clientId, resumeToken, instanceId } = kept;
  if (typeof clientId !== 'string' || typeof resumeToken !== 'string') return undefined;
  return {
    clientId,
    resumeToken,
    instanceId: typeof instanceId === 'string' ? instanceId : undefined,
  };
}

/** For a program that keeps nothing, or passes in what it kept. */
export function createMemoryIdentity(
  known: { clientId?: string; resumeToken?: string } = {},
): ClientIdentity {
  let now = known;
  return {
    clientId: () => now.clientId,
    resumeToken: () => now.resumeToken,
    save(next) {
      now = next;
    },
  };
}

/** A token that this device makes for itself: 256 random bits. */
export function newDeviceToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  const secret = toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  return `cb_device_${secret}`;
}

/** Tells that a text that was kept can be one. */
export const isDeviceToken = (text: string): boolean => /^cb_device_[\w-]{43}$/.test(text);
