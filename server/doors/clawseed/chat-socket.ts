import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { z } from 'zod';
import type { Semaphore } from '#lib/limits/semaphore';
import { type RateLimit, TokenBucket } from '#lib/limits/token-bucket';
import { closedObject } from '#lib/protocol/closed-object';
import { CLOSE } from '#lib/protocol/server-messages';
import type { Caller } from '../../auth/room.ts';
import type { Clock } from '../../base/clock.ts';
import {
  closeSocket,
  createCork,
  createFrameQueue,
  type InboundSocket,
  type Liveness,
  Outbox,
  watchLiveness,
} from '../../sockets/room.ts';
import { errorFrame, type ServerFrame } from './chat-frames.ts';
import { type ChatChannel, ChatSession, type ChatSessionDeps } from './chat-session.ts';
import { createKeptIdentities } from './chat-tools.ts';
import { type ChatFrame, nameOf, parseChatFrame } from './parse-chat-frame.ts';

export interface ChatSocketDeps extends ChatSessionDeps {
  readonly clock: Clock;
  readonly heartbeatMs: number;
  readonly flood: RateLimit;
  /** Shared with the sockets of clients: one large frame is handled at a time over all of them. */
  readonly largeFrames: Semaphore;
}

interface OpenSocket {
  readonly principal: Caller;
  readonly address: string;
  readonly stream: Duplex;
  readonly inbound: InboundSocket;
  readonly query: URLSearchParams;
}

const MOST_ID_CHARS = 256;

/** The socket of ClawSeed apps, `/ws/chat`. */
export const clawseedConfigSchema = closedObject({
  enabled: z.boolean().default(true),
  /** Such an app may send its token as `?token=`: what logs addresses logs it then. */
  token_in_url: z.boolean().default(false),
}).prefault({});

/** Carries the chat of one ClawSeed app over one socket. */
export function createChatSocketHandler(given: Omit<ChatSocketDeps, 'kept' | 'newSessionId'>) {
  const deps = { ...given, kept: createKeptIdentities(), newSessionId: randomUUID };
  return (socket: WebSocket, open: OpenSocket): void => {
    const sessionId = open.query.get('session_id') || undefined;
    if (sessionId !== undefined && sessionId.length > MOST_ID_CHARS) {
      const message = `session_id has more than ${MOST_ID_CHARS} characters.`;
      socket.send(JSON.stringify(errorFrame('SESSION_BIND_FAILED', message)));
      return closeSocket(socket, CLOSE.policy, message);
    }
    const connection = new ChatConnection(deps, socket, open, sessionId);
    socket.on('message', (data, isBinary) => connection.receive(data, isBinary));
    socket.on('close', () => connection.closed());
  };
}

class ChatConnection implements ChatChannel {
  readonly #socket: WebSocket;
  readonly #outbox: Outbox;
  readonly #bucket: TokenBucket;
  readonly #session: ChatSession;
  readonly #liveness: Liveness;
  readonly #takeFrame: (data: Buffer) => void;

  constructor(
    deps: ChatSocketDeps,
    socket: WebSocket,
    { principal, address, stream, inbound, query }: OpenSocket,
    sessionId: string | undefined,
  ) {
    this.#socket = socket;
    this.#takeFrame = createFrameQueue({
      inbound,
      large: deps.largeFrames,
      parse: (data) => this.#parse(data),
      handle: (frame) => this.#session.receive(frame),
      takesLong: (frame) => frame.type === 'client' && frame.message.type === 'register_tools',
    });
    const cut = () => socket.terminate();
    const onSend = createCork(stream);
    this.#outbox = new Outbox({ socket, clock: deps.clock, onSend, onFull: cut, onStalled: cut });
    this.#bucket = new TokenBucket(deps.flood, deps.clock.now);
    this.#session = new ChatSession(deps, this, {
      caller: { ...principal, address },
      sessionId,
      name: nameOf(query.get('name')),
    });
    this.#liveness = watchLiveness({
      clock: deps.clock,
      heartbeatMs: deps.heartbeatMs,
      socket,
      // An app replies to pings of the protocol, and knows no probe.
      caps: () => [],
      probe: () => {},
      onChange: (isResponsive) => this.#session.setResponsive(isResponsive),
    });
    inbound.onArriving(this.#liveness.received);
  }

  receive(data: RawData, isBinary: boolean): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#liveness.received();
    if (!this.#bucket.take()) {
      return this.close(CLOSE.policy, 'Too many messages; slow down and connect again');
    }
    if (isBinary) {
      return this.send(errorFrame('INVALID_JSON', 'Send text frames of JSON, not binary ones.'));
    }
    if (Buffer.isBuffer(data)) this.#takeFrame(data);
  }

  #parse(data: Buffer): ChatFrame | undefined {
    if (this.#socket.readyState !== this.#socket.OPEN) return undefined;
    return parseChatFrame(String(data));
  }

  send(frame: ServerFrame): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    // The reply to a message that the server had requested takes no part in a flood.
    if (frame.type === 'result_acknowledged' && frame.disposition === 'accepted')
      this.#bucket.giveBack();
    this.#outbox.send(frame);
  }

  dropRequest(callId: string): void {
    this.#outbox.drop(callId);
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
}
