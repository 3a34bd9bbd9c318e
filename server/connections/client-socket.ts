import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { createTokenBucket, type RateLimit, type TokenBucket } from '#lib/net/token-bucket';
import { CLOSE, type ServerMessage } from '#lib/protocol/server-messages';
import type { Principal } from '../auth/principal.ts';
import type { Clock } from '../clock.ts';
import { closeSocket } from '../sockets/close-socket.ts';
import { createCork } from '../sockets/cork.ts';
import type { InboundSocket } from '../sockets/inbound-socket.ts';
import { createFrameQueue, type Turns } from '../sockets/large-frames.ts';
import { type Liveness, watchLiveness } from '../sockets/liveness.ts';
import { Outbox } from '../sockets/outbox.ts';
import type { ClientSession, Received } from './client-session.ts';
import type { ClientSessions } from './client-sessions.ts';
import type { ClientTable } from './client-table.ts';
import { parseClientFrame } from './parse-client-frame.ts';
import type { ClientChannel } from './presence.ts';

export interface ClientSocketDeps {
  readonly sessions: ClientSessions;
  readonly table: ClientTable;
  readonly clock: Clock;
  readonly heartbeatMs: number;
  readonly flood: RateLimit;
  newNonce(): string;
  /** Shared by all sockets on which frames may be large. */
  readonly turns: Turns;
}

interface OpenSocket {
  readonly principal: Principal;
  readonly stream: Duplex;
  readonly inbound: InboundSocket;
}

/** Carries one client's messages over one socket: frames, floods, liveness, and nothing else. */
export function createClientSocketHandler(deps: ClientSocketDeps) {
  return (socket: WebSocket, open: OpenSocket): void => {
    const connection = new ClientConnection(deps, socket, open);
    socket.on('message', (data, isBinary) => connection.receive(data, isBinary));
    socket.on('close', () => connection.closed());
  };
}

class ClientConnection implements ClientChannel {
  readonly #socket: WebSocket;
  readonly #outbox: Outbox;
  readonly #bucket: TokenBucket;
  readonly #session: ClientSession;
  readonly #liveness: Liveness;
  readonly #takeFrame: (data: Buffer) => void;

  constructor(
    deps: ClientSocketDeps,
    socket: WebSocket,
    { principal, stream, inbound }: OpenSocket,
  ) {
    this.#socket = socket;
    this.#takeFrame = createFrameQueue({
      inbound,
      turns: deps.turns,
      parse: (data) => this.#parse(data),
      handle: (message) => this.#session.receive(message),
      takesLong: ({ type }) => type === 'register_tools',
    });
    // When it connects again, its calls are as they were.
    const cut = () => socket.terminate();
    const onSend = createCork(stream);
    this.#outbox = new Outbox({ socket, clock: deps.clock, onSend, onFull: cut, onStalled: cut });
    this.#bucket = createTokenBucket(deps.flood, deps.clock.now);
    this.#session = deps.sessions.open(principal, this);
    this.#liveness = watchLiveness({
      clock: deps.clock,
      heartbeatMs: deps.heartbeatMs,
      socket,
      caps: () => deps.table.get(this.#session.instanceId ?? '')?.caps ?? [],
      probe: () => this.send({ type: 'probe', nonce: deps.newNonce() }),
      onChange: (isResponsive) => this.#session.setResponsive(isResponsive),
    });
    // Its replies to probes are behind a large frame, which may take minutes over a phone's network.
    inbound.onArriving(this.#liveness.received);
  }

  receive(data: RawData, isBinary: boolean): void {
    // `ws` passes on what comes after our close frame, until the client answers it.
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#liveness.received();
    // guard: client-flood-limited
    if (!this.#bucket.take()) {
      return this.close(CLOSE.policy, 'Too many messages; slow down and connect again');
    }
    if (isBinary) return this.#sendError('Send text frames of JSON, not binary ones');
    // One buffer: `binaryType` is `nodebuffer`.
    if (Buffer.isBuffer(data)) this.#takeFrame(data);
  }

  #parse(data: Buffer): Received | undefined {
    if (this.#socket.readyState !== this.#socket.OPEN) return undefined;
    const frame = parseClientFrame(String(data));
    if (frame.ok) return frame.message;
    this.#sendError(frame.message, frame.id);
    // An answer that is rejected for good has ended its call, where that call can be read.
    if (!frame.answer && frame.answerTo !== undefined) {
      this.#rejectAnswer(frame.answerTo, frame.message);
    }
    return frame.answer;
  }

  send(message: ServerMessage): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    // The reply to a message that the server had requested takes no part in a flood.
    if (isRequested(message)) this.#bucket.giveBack();
    this.#outbox.send(message);
  }

  close(code: number, reason: string): void {
    closeSocket(this.#socket, code, reason);
    this.#session.closed();
  }

  closed(): void {
    this.#liveness.stop();
    this.#outbox.stop();
    this.#session.closed();
  }

  #sendError(message: string, id?: string): void {
    this.send({ type: 'error', code: 'bad_message', message, ...(id === undefined ? {} : { id }) });
  }

  /** Final, since an answer that cannot be read would block its client's outbox for ever. */
  #rejectAnswer(id: string, message: string): void {
    this.send({ type: 'result_rejected', id, code: 'result_invalid', message, final: true });
  }
}

const isRequested = (message: ServerMessage): boolean =>
  message.type === 'tool_call_granted' ||
  (message.type === 'result_acknowledged' && message.disposition === 'accepted');
