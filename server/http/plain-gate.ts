import type { IncomingMessage } from 'node:http';
import { HttpError } from '#lib/protocol/http-error';
import { type HostGate, plainAddress } from '../auth/room.ts';
import { errorResponse } from './error-response.ts';
import type { HttpResponse } from './response.ts';
import { parseTarget } from './route-table.ts';

export type PlainGate = ReturnType<typeof createPlainGate>;

/** Decides who may use plain HTTP, where the server is open to a network. */
export function createPlainGate(deps: {
  readonly hostGate: Pick<HostGate, 'refuseHost'>;
  /** By the address of the connection: no header counts here. */
  readonly mayBePlain: (address: string) => boolean;
  /** The same port takes TLS. */
  readonly hasTls: boolean;
}) {
  const isRefused = ({ socket }: IncomingMessage) =>
    !('encrypted' in socket) && !deps.mayBePlain(plainAddress(socket.remoteAddress));
  return {
    /** The one answer to a request without TLS of a peer that may not send one. */
    refuse(incoming: IncomingMessage): HttpResponse | undefined {
      if (!isRefused(incoming)) return undefined;
      const location = deps.hasTls ? toHttps(deps.hostGate, incoming) : undefined;
      const headers = { connection: 'close' };
      if (location !== undefined)
        return { status: 308, body: '', headers: { ...headers, location } };
      const refusal = errorResponse(needsTls());
      return { ...refusal, headers: { ...refusal.headers, ...headers } };
    },
    refuseUpgrade: (incoming: IncomingMessage): HttpError | undefined =>
      isRefused(incoming) ? needsTls() : undefined,
  };
}

/** The same place by https, when it is one of ours. */
function toHttps(
  hostGate: Pick<HostGate, 'refuseHost'>,
  { headers, url, rawHeaders }: IncomingMessage,
): string | undefined {
  const target = parseTarget(url);
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host');
  if (!target || hosts.length !== 1 || hostGate.refuseHost(headers.host, true)) return undefined;
  return `https://${headers.host?.toLowerCase()}${target.pathname}${target.search}`;
}

const needsTls = (): HttpError =>
  new HttpError('bad_request', 'This server takes TLS alone here: use https, and wss for sockets.');
