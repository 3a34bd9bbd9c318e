import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HostGate } from '../auth/room.ts';
import type { DeviceOrigins } from '../clients/room.ts';
import { writeResponse } from './response.ts';

/** A page may ask these before it was let in; all else takes the credential of a device. */
const TO_ASK = new Set(['/api/pairing/join', '/api/pairing/outcome']);
const OF_DEVICES = /^(?:\/internal\/.+|\/v1\/blobs|\/ws\/client)$/;

/** How long a browser need not ask again. */
const MAX_AGE_S = '600';

export type ForeignPages = ReturnType<typeof createForeignPages>;

/** Pages of other origins, as far as they may come (rules DV20 to DV24). */
export function createForeignPages({
  hostGate,
  origins,
}: {
  readonly hostGate: Pick<HostGate, 'isForeignPage'>;
  readonly origins: Pick<DeviceOrigins, 'mayAsk' | 'isPaired'>;
}) {
  return {
    /** A page of this origin may send the request, whatever its credential. */
    admits({ method = '' }: IncomingMessage, pathname: string, origin: string): boolean {
      if (TO_ASK.has(pathname)) return origins.mayAsk(origin) || origins.isPaired(origin);
      if (!OF_DEVICES.test(pathname) || !origins.isPaired(origin)) return false;
      // It uploads; what others stored it does not read.
      return pathname !== '/v1/blobs' || method === 'POST' || method === 'OPTIONS';
    },
    /** Lets the page read the response. True: the request was a preflight, and is answered. */
    answer({ headers: asked, method }: IncomingMessage, outgoing: ServerResponse): boolean {
      const { origin } = asked;
      if (origin === undefined || !hostGate.isForeignPage(asked)) return false;
      outgoing.setHeader('access-control-allow-origin', origin);
      outgoing.setHeader('vary', 'origin');
      outgoing.setHeader('access-control-expose-headers', 'retry-after');
      if (method !== 'OPTIONS') return false;
      const headers = {
        'access-control-allow-methods': 'GET, POST',
        'access-control-allow-headers': 'authorization, content-type',
        'access-control-max-age': MAX_AGE_S,
      };
      writeResponse(outgoing, { status: 204, body: '', headers });
      return true;
    },
  };
}
