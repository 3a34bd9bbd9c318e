import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Caller, Credentials, HostGate, Peer } from '../auth/room.ts';

/** The caller, and where it is. */
export interface Known {
  readonly caller: Caller;
  readonly peer: Peer;
}

export type KnownConnections = ReturnType<typeof createKnownConnections>;

const SHOWN = Symbol('shown');

interface KnownSocket extends Socket {
  [SHOWN]?: Shown;
}

interface Shown {
  readonly known: Known;
  readonly method: string | undefined;
  readonly headers: readonly string[];
  /** The names that were ours. */
  readonly ours: object;
  readonly stillCounts: () => boolean;
}

/** They say nothing of who asks, of whom and from where: their values may differ. */
const FREE = new Set(['content-length', 'idempotency-key', 'traceparent', 'tracestate']);

/** Each connection keeps its own; longer ones, and more, pass the checks each time. */
const MOST_CHARS = 4 * 1024;
const MOST_PARTS = 2 * 64;

/** A credential that a connection has shown counts for its next request (rule HT96). */
export const createKnownConnections = ({
  hostGate,
  credentials,
}: {
  readonly hostGate: Pick<HostGate, 'ours' | 'isForeignPage'>;
  readonly credentials: Pick<Credentials, 'follow'>;
}) => ({
  /** The caller; undefined where the request has to pass every check. */
  of({ socket, method, rawHeaders }: IncomingMessage): Known | undefined {
    const { [SHOWN]: shown }: KnownSocket = socket;
    if (!shown || shown.method !== method || !isSame(shown.headers, rawHeaders)) return undefined;
    const isOurs = hostGate.ours(shown.known.peer.isSecure) === shown.ours;
    return isOurs && shown.stillCounts() ? shown.known : undefined;
  },
  /** The request has passed them. */
  keep({ socket, method, headers, rawHeaders }: IncomingMessage, known: Known): void {
    const { caller, peer } = known;
    // How far another origin may come, and a device with its token, is asked each time.
    if (caller.kind === 'device' || hostGate.isForeignPage(headers)) return;
    if (rawHeaders.length > MOST_PARTS || rawHeaders.join('').length > MOST_CHARS) return;
    const shown = { known, method, headers: rawHeaders, ours: hostGate.ours(peer.isSecure) };
    const connection: KnownSocket = socket;
    connection[SHOWN] = { ...shown, stillCounts: credentials.follow(caller) };
  },
});

/**
 * Names and values, one after the other, letter for letter and in the same order. Values are looked
 * at to their end: how long that takes reveals nothing of a secret, nor of its length.
 */
function isSame(before: readonly string[], now: readonly string[]): boolean {
  if (before.length !== now.length) return false;
  let difference = 0;
  for (let at = 0; at < now.length; at += 2) {
    const name = now[at] ?? '';
    const value = now[at + 1] ?? '';
    const known = before[at + 1] ?? '';
    if (before[at] !== name) return false;
    if (FREE.has(name.toLowerCase())) continue;
    difference |= value.length ^ known.length;
    for (let n = 0; n < value.length; n += 1)
      difference |= value.charCodeAt(n) ^ known.charCodeAt(n);
  }
  return difference === 0;
}
