import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Semaphore } from '#lib/limits/semaphore';
import { type RateLimit, TokenBucket } from '#lib/limits/token-bucket';
import { CLOSE, type ServerMessage } from '#lib/protocol/server-messages';
import { given } from '#lib/util/given';
import type { Principal } from '../auth/room.ts';
import type { Clock } from '../base/clock.ts';
import {
  closeSocket,
  createCork,
  createFrameQueue,
  type InboundSocket,
  type Line,
  type Liveness,
  Outbox,
  watchLiveness,
} from '../sockets/room.ts';
import type { ClientSession, ClientSessions, Received } from './client-session.ts';
import type { ClientChannel, ClientTable } from './client-table.ts';
import { parseClientFrame } from './parse-client-frame.ts';

/** A change that people see: by more than a quarter, and by more than so many milliseconds. */
const LEAST_CHANGE_MS = 10;

/** The time from a probe to its answer; the probes of thousands of clients shall change no list. */
export const isOtherLatency = (latencyMs: number, before = Number.NEGATIVE_INFINITY): boolean =>
  Math.abs(latencyMs - before) > Math.max(LEAST_CHANGE_MS, before / 4);

export interface ClientConnectionDeps {
  readonly sessions: ClientSessions;
  readonly table: ClientTable;
  readonly clock: Clock;
  readonly heartbeatMs: number;
  readonly flood: RateLimit;
  newNonce(): string;
  /** Shared by all lines on which frames may be large. */
  readonly largeFrames: Semaphore;
}

/** It carries the texts of one client, whatever it is. */
export interface OpenLine {
  readonly principal: Principal;
  readonly line: Line;
  /** The line writes to it; writes are gathered here. */
  readonly corked: Pick<Duplex, 'cork' | 'uncork'>;
  readonly inbound: InboundSocket;
}

/** The text of one message. */
type Frame = Buffer | string;

export type OpenConnection = (line: OpenLine) => ClientConnection;

/** Messages to and from one client: frames, floods, liveness, and nothing else. */
export class ClientConnection implements ClientChannel {
  readonly #deps: ClientConnectionDeps;
  readonly #line: Line;
  #probe: { readonly nonce: string; readonly at: number } | undefined;
  readonly #outbox: Outbox;
  readonly #bucket: TokenBucket;
  readonly #session: ClientSession;
  readonly #liveness: Liveness;
  readonly #takeFrame: (frame: Frame) => void;

  constructor(deps: ClientConnectionDeps, { principal, line, corked, inbound }: OpenLine) {
    this.#deps = deps;
    this.#line = line;
    this.#takeFrame = createFrameQueue<Frame, Received>({
      inbound,
      large: deps.largeFrames,
      parse: (frame) => this.#parse(frame),
      handle: (message) => {
        if (message.type === 'probe_ack') this.#measure(message.nonce);
        return this.#session.receive(message);
      },
      takesLong: ({ type }) => type === 'register_tools',
    });
    // When it connects again, its calls are as they were.
    const cut = () => line.terminate();
    const onSend = createCork(corked);
    this.#outbox = new Outbox({
      socket: line,
      clock: deps.clock,
      onSend,
      onFull: cut,
      onStalled: cut,
    });
    this.#bucket = new TokenBucket(deps.flood, deps.clock.now);
    this.#session = deps.sessions.open(principal, this);
    this.#liveness = watchLiveness({
      clock: deps.clock,
      heartbeatMs: deps.heartbeatMs,
      socket: line,
      caps: () => deps.table.get(this.#session.instanceId ?? '')?.caps ?? [],
      probe: () => {
        const nonce = deps.newNonce();
        this.#probe = { nonce, at: deps.clock.now() };
        this.send({ type: 'probe', nonce });
      },
      onChange: (isResponsive) => this.#session.setResponsive(isResponsive),
    });
    // Its replies to probes are behind a large frame, which may take minutes over a phone's network.
    inbound.onArriving(this.#liveness.received);
  }

  receive(frame: Frame): void {
    if (this.#isReceived()) this.#takeFrame(frame);
  }

  receiveBinary(): void {
    if (this.#isReceived()) this.#sendError('Send text frames of JSON, not binary ones');
  }

  /** The program runs, though it sends no message. */
  showsLife(): void {
    this.#liveness.received();
  }

  /** False for what comes behind our close, until the client has answered that, and for a flood. */
  #isReceived(): boolean {
    if (this.#line.readyState !== this.#line.OPEN) return false;
    this.#liveness.received();
    // guard: client-flood-limited
    if (!this.#bucket.take()) {
      this.close(CLOSE.policy, 'Too many messages; slow down and connect again');
      return false;
    }
    return true;
  }

  #measure(nonce: string): void {
    const { table, clock } = this.#deps;
    const instanceId = this.#session.instanceId ?? '';
    if (this.#probe?.nonce !== nonce) return;
    const latencyMs = Math.max(0, Math.round(clock.now() - this.#probe.at));
    this.#probe = undefined;
    const isNews = isOtherLatency(latencyMs, table.get(instanceId)?.latencyMs);
    if (isNews) table.update(instanceId, { latencyMs });
  }

  #parse(text: Frame): Received | undefined {
    if (this.#line.readyState !== this.#line.OPEN) return undefined;
    const frame = parseClientFrame(String(text));
    if (frame.ok) return frame.message;
    this.#sendError(frame.message, frame.id);
    // An answer that is rejected for good has ended its call, where that call can be read.
    if (!frame.answer && frame.answerTo !== undefined) {
      this.#rejectAnswer(frame.answerTo, frame.message);
    }
    return frame.answer;
  }

  send(message: ServerMessage): void {
    if (this.#line.readyState !== this.#line.OPEN) return;
    // The reply to a message that the server had requested takes no part in a flood.
    if (isRequested(message)) this.#bucket.giveBack();
    this.#outbox.send(message);
  }

  close(code: number, reason: string): void {
    closeSocket(this.#line, code, reason);
    this.#session.closed();
  }

  closed(): void {
    this.#liveness.stop();
    this.#outbox.stop();
    this.#session.closed();
  }

  #sendError(message: string, id?: string): void {
    this.send({ type: 'error', code: 'bad_message', message, ...given({ id }) });
  }

  /** Final, since an answer that cannot be read would block its client's outbox for ever. */
  #rejectAnswer(id: string, message: string): void {
    this.send({ type: 'result_rejected', id, code: 'result_invalid', message, final: true });
  }
}

const isRequested = (message: ServerMessage): boolean =>
  message.type === 'tool_call_granted' ||
  (message.type === 'result_acknowledged' && message.disposition === 'accepted');

interface OpenSocket {
  readonly principal: Principal;
  readonly stream: Duplex;
  readonly inbound: InboundSocket;
}

/** A client's messages as frames of a WebSocket. */
export const createClientSocketHandler =
  (open: OpenConnection) =>
  (socket: WebSocket, { principal, stream, inbound }: OpenSocket): void => {
    const connection = open({ principal, line: socket, corked: stream, inbound });
    socket.on('message', (data, isBinary) => {
      if (isBinary) connection.receiveBinary();
      // One buffer: `binaryType` is `nodebuffer`.
      else if (Buffer.isBuffer(data)) connection.receive(data);
    });
    socket.on('close', () => connection.closed());
  };
