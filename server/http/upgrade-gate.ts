import { type IncomingHttpHeaders, type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { Counts } from '#lib/limits/counts';
import { HttpError } from '#lib/protocol/http-error';
import { LIMITS } from '#lib/protocol/limits';
import { PROTOCOL } from '#lib/protocol/server-messages';
import { CLAWSEED_PROTOCOL, readCredentialProtocol } from '#lib/protocol/subprotocols';
import {
  type Caller,
  type Credentials,
  type HostGate,
  networkOf,
  type PeerOf,
} from '../auth/room.ts';
import type { Logger } from '../base/logger.ts';
import { type Allowed, CLIENTS, refuseCaller, VIEWERS } from '../doors/room.ts';
import { type InboundBudget, type InboundSocket, watchInbound } from '../sockets/room.ts';
import { errorResponse, toHttpError } from './error-response.ts';
import type { ForeignPages } from './foreign-pages.ts';
import type { OpenSockets, SocketUse } from './open-sockets.ts';
import type { PlainGate } from './plain-gate.ts';
import { badTarget, refuseRequest } from './request-listener.ts';
import { parseTarget } from './route-table.ts';
import { admit } from './unused-connections.ts';

/** In the words of ClawSeed's own server. */
const UNAUTHORIZED =
  'Unauthorized — provide Authorization header, Sec-WebSocket-Protocol bearer, or ?token= query param';
const WITHOUT_URL =
  'Unauthorized — provide Authorization header, or Sec-WebSocket-Protocol bearer; ?token= is refused, since addresses are logged (clawseed.token_in_url in the configuration allows it)';

/**
 * A ClawSeed app's credential: the header, else the subprotocol, else `token` in
 * the address, where the configuration allows that (rule HT221). The first that is there counts.
 */
function chatCredential(
  headers: IncomingHttpHeaders,
  search: string,
  mayBeInUrl: boolean,
): { readonly headers: IncomingHttpHeaders; refusal(error: HttpError): HttpError } {
  const { authorization, 'sec-websocket-protocol': protocols } = headers;
  const isSent =
    authorization !== undefined || readCredentialProtocol('bearer', protocols) !== undefined;
  const token = isSent || !mayBeInUrl ? null : new URLSearchParams(search).get('token');
  return {
    headers: token === null ? headers : { ...headers, authorization: `Bearer ${token}` },
    refusal: (error) =>
      error.code === 'unauthenticated'
        ? new HttpError('unauthenticated', mayBeInUrl ? UNAUTHORIZED : WITHOUT_URL)
        : error,
  };
}

/** The other end of an open socket. */
export interface SocketContext {
  readonly principal: Caller;
  readonly address: string;
  /** It carries the socket's frames, and gathers writes. */
  readonly stream: Duplex;
  readonly inbound: InboundSocket;
  /** The address's query may have a token (HT221), so that it is neither kept nor logged. */
  readonly query: URLSearchParams;
}

export type SocketHandler = (ws: WebSocket, context: SocketContext) => void;

export type SocketPath = '/ws/client' | '/ws/watch' | '/ws/chat';

type Handlers = Readonly<
  Record<Exclude<SocketPath, '/ws/chat'>, SocketHandler> & { '/ws/chat'?: SocketHandler }
>;

type RawUpgrade = (incoming: IncomingMessage, socket: Duplex, head: Buffer) => void;

export interface UpgradeGateDeps {
  readonly hostGate: HostGate;
  readonly plainGate: Pick<PlainGate, 'refuseUpgrade'>;
  readonly credentials: Pick<Credentials, 'authenticate'>;
  readonly peerOf: PeerOf;
  readonly foreignPages: Pick<ForeignPages, 'admits'>;
  readonly openSockets: OpenSockets;
  /** `/ws/chat` may be switched off. */
  readonly sockets: Handlers;
  /** On `/ws/chat` a token may stand in the address. */
  readonly chatTokenInUrl?: boolean;
  readonly inbound: InboundBudget;
  /** In development only: Next's own socket (`/_next/hmr`). */
  readonly devUpgrade?: RawUpgrade;
  /** Upgrades of one address whose credential is still being looked up. */
  readonly maxPendingPerNetwork?: number;
  readonly logger: Logger;
  /** A socket has closed, with this code. */
  readonly closed?: (code: number) => void;
}

const MAX_PENDING_PER_NETWORK = 64;

interface SocketKind {
  readonly isFor: Allowed;
  readonly use: SocketUse;
  readonly protocol: string;
}

/** Contract, section 4: agents have neither socket, a device only the client's; a viewer offers no tools. */
const KINDS: Record<SocketPath, SocketKind> = {
  '/ws/client': { isFor: CLIENTS, use: 'client', protocol: PROTOCOL },
  '/ws/watch': { isFor: VIEWERS, use: 'watcher', protocol: PROTOCOL },
  '/ws/chat': { isFor: CLIENTS, use: 'client', protocol: CLAWSEED_PROTOCOL },
};

/** The only way to a socket: everything is checked before the upgrade, as plain HTTP. */
export function createUpgradeGate(deps: UpgradeGateDeps) {
  const { openSockets: open, maxPendingPerNetwork = MAX_PENDING_PER_NETWORK } = deps;
  const wss = createSocketServer();
  const pending = new Counts();

  const upgrade = async (
    incoming: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    { path, search, handler }: { path: SocketPath; search: string; handler: SocketHandler },
  ) => {
    const { address } = deps.peerOf(incoming);
    const done = pending.enter(networkOf(address), maxPendingPerNetwork);
    if (!done) throw new HttpError('rate_limited', 'Too many sockets at once.', { retryAfter: 1 });
    const principal = await authenticate(deps, incoming, { address, path, search }).finally(done);
    const { use } = KINDS[path];
    const problem = open.capacityProblem(principal, use);
    if (problem) throw problem;
    admit(incoming.socket);
    wss.handleUpgrade(incoming, socket, head, (ws) => {
      // ws emits 'error' for a malformed frame and closes by itself; without a listener it would end the process.
      // guard: socket-errors-handled
      ws.on('error', () => {});
      ws.on('close', open.add(ws, principal, use));
      ws.on('close', (code) => deps.closed?.(code));
      const inbound = watchInbound(deps.inbound, ws, incoming.socket);
      const sender = { ...principal, address };
      const query = new URLSearchParams(search);
      handler(ws, { principal: sender, address, stream: socket, inbound, query });
    });
  };

  return {
    get openCount(): number {
      return open.count;
    },
    close: open.close,
    onUpgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
      // The peer may vanish at any moment before ws takes the socket over.
      socket.on('error', () => socket.destroy());
      const refuse = (error: HttpError) => refuseUpgrade(socket, error);
      const plain = deps.plainGate.refuseUpgrade(incoming);
      if (plain) return refuse(plain);
      const target = parseTarget(incoming.url);
      if (!target) return refuse(badTarget());
      const { pathname, search } = target;
      const refusal = refuseRequest(deps, incoming, pathname, true);
      if (refusal) return refuse(refusal);
      const handler = isSocketPath(pathname) ? deps.sockets[pathname] : undefined;
      if (isSocketPath(pathname) && handler) {
        upgrade(incoming, socket, head, { path: pathname, search, handler }).catch(
          (error: unknown) => refuse(toHttpError(error, deps.logger)),
        );
        return;
      }
      if (deps.devUpgrade) return deps.devUpgrade(incoming, socket, head);
      refuse(new HttpError('not_found', isSocketPath(pathname) ? CHAT_IS_OFF : NO_SOCKET));
    },
  };
}

const NO_SOCKET =
  'There is no socket at this path; the sockets are /ws/client, /ws/watch and /ws/chat.';
const CHAT_IS_OFF =
  'The socket for ClawSeed apps is switched off: "clawseed": {"enabled": true} in the configuration switches it on.';

async function authenticate(
  { credentials, chatTokenInUrl = false }: UpgradeGateDeps,
  { headers: sent, method = '' }: IncomingMessage,
  { address, path, search }: { address: string; path: SocketPath; search: string },
): Promise<Caller> {
  const chat = path === '/ws/chat' ? chatCredential(sent, search, chatTokenInUrl) : undefined;
  const { headers = sent } = chat ?? {};
  const principal = await credentials.authenticate({ headers, method, address, at: 'socket' });
  if (principal instanceof HttpError) throw chat?.refusal(principal) ?? principal;
  const refusal = refuseCaller(KINDS[path].isFor, principal);
  if (refusal) throw refusal;
  return principal;
}

function createSocketServer(): WebSocketServer {
  const options = {
    noServer: true,
    clientTracking: false,
    // Compression costs 300 KB a socket, and lets a small frame become a large one.
    perMessageDeflate: false,
    maxPayload: LIMITS.frameBytes,
    maxFragments: 1_024,
    // A frame of 16 MiB that comes in packets of 1,400 bytes is 12,000 chunks.
    maxBufferedChunks: 16_384,
    // A peer that does not answer the close frame is cut off. An option that ws has and its types lack.
    closeTimeout: 1_000,
    handleProtocols: (offered: Set<string>, { url }: IncomingMessage) => {
      const pathname = parseTarget(url)?.pathname ?? '';
      const spoken = isSocketPath(pathname) ? KINDS[pathname].protocol : PROTOCOL;
      return offered.has(spoken) ? spoken : (false as const);
    },
  };
  // guard: frame-length-limited
  const wss = new WebSocketServer(options);
  // A listener makes ws leave the answer to us; its own would not have our shape.
  wss.on('wsClientError', (error, socket) =>
    refuseUpgrade(
      socket,
      new HttpError('bad_request', `Not a WebSocket handshake: ${error.message}`),
    ),
  );
  return wss;
}

const isSocketPath = (pathname: string): pathname is SocketPath => Object.hasOwn(KINDS, pathname);

/** Answers an upgrade with a plain HTTP error, before any socket is one, and hangs up. */
function refuseUpgrade(socket: Duplex, error: HttpError): void {
  const { status, json, headers } = errorResponse(error);
  const body = JSON.stringify(json);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Connection: close',
    'Content-Type: application/json',
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`),
  ];
  if (!socket.writable) return void socket.destroy();
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
