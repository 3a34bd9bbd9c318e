import { CLOSE } from '../protocol/close-codes.ts';
import { reconnectDelay, STABLE_MS } from './backoff.ts';
import type { Socket, SocketEnvironment } from './environment.ts';
import { createLiveness, type Liveness } from './liveness.ts';

/** From the start of an attempt until `ready`. */
const CONNECT_MS = 5_000;
/** Close codes after which another attempt cannot succeed. */
const REFUSALS: ReadonlySet<number> = new Set([CLOSE.unauthenticated, CLOSE.disconnected]);
/** Close code of a socket that this side gives up. */
const GIVEN_UP = 4000;

export type SocketStatus =
  | { readonly state: 'stopped' }
  | { readonly state: 'connecting' }
  | { readonly state: 'connected' }
  /** `retryAt` in milliseconds since the epoch; `attempt` counts from 1. */
  | { readonly state: 'reconnecting'; readonly attempt: number; readonly retryAt: number }
  /** The credential is not valid: only a new one helps, so no attempt follows. */
  | { readonly state: 'refused'; readonly code: number; readonly reason: string };

export interface ReconnectingSocketOptions<Incoming, Outgoing> {
  readonly url: string;
  readonly protocols: readonly string[];
  readonly environment: SocketEnvironment;
  /** Undefined for a frame that is not a message of the protocol. */
  parse(data: unknown): Incoming | undefined;
  /** The nonce of the probe that this message answers, if it answers one. */
  ackNonce(message: Incoming): string | undefined;
  createProbe(nonce: string): Outgoing;
  /**
   * Asked after an attempt that never opened: a browser gives no reason: the server
   * may have refused the credential, or was not reached.
   */
  readonly isRefused: (() => Promise<boolean>) | undefined;
  /** The next attempt waits until a promise that this gives has resolved. */
  beforeRetry?(code: number): Promise<void> | undefined;
  onOpen(): void;
  onMessage(message: Incoming | undefined): void;
  /** An open or opening socket ended, from either side. */
  onDown(code: number): void;
  onStatus(status: SocketStatus): void;
  onProblem(message: string): void;
}

/** A socket's time, from the attempt to its end. Events of any other socket are ignored. */
type Link =
  | { readonly kind: 'opening'; readonly socket: Socket; readonly cancelTimeout: () => void }
  | { readonly kind: 'open'; readonly socket: Socket; readonly cancelTimeout: () => void }
  | {
      readonly kind: 'ready';
      readonly socket: Socket;
      readonly readyAt: number;
      readonly liveness: Liveness;
    };

type State =
  | { readonly kind: 'stopped' }
  | { readonly kind: 'waiting'; readonly cancelRetry: () => void }
  /** Something has to be finished before the next attempt. */
  | { readonly kind: 'held' }
  | Link;

/**
 * One socket after another, never two. Rules: CL1 to CL5 in lib/client/SPEC.md.
 * Written here instead of taking `partysocket`, whose retries have their own
 * timers and hide which socket an event came from: the rules on earlier sockets,
 * wake-ups and the deadline of an attempt could not be kept exactly.
 */
export class ReconnectingSocket<Incoming, Outgoing> {
  readonly #options: ReconnectingSocketOptions<Incoming, Outgoing>;
  readonly #environment: SocketEnvironment;
  #state: State = { kind: 'stopped' };
  #attempt = 0;
  #stopListening = () => {};

  constructor(options: ReconnectingSocketOptions<Incoming, Outgoing>) {
    this.#options = options;
    this.#environment = options.environment;
  }

  start(): void {
    if (this.#state.kind !== 'stopped') return;
    this.#attempt = 0;
    const stopWake = this.#environment.onWake(() => this.#wake());
    const stopPutAway = this.#environment.onPutAway?.(() => this.#putAway());
    this.#stopListening = () => {
      stopWake();
      stopPutAway?.();
    };
    this.#connect();
  }

  /** Closes the socket and makes no further attempt. It can be started again. */
  stop(reason: string): void {
    const link = linkOf(this.#state);
    if (link) {
      this.#release(link, 1000);
      link.socket.close(1000, reason);
    }
    this.#end();
    this.#options.onStatus({ state: 'stopped' });
  }

  /** False, and nothing sent, when no socket is open. */
  send(message: Outgoing): boolean {
    const state = this.#state;
    if (state.kind !== 'open' && state.kind !== 'ready') return false;
    state.socket.send(JSON.stringify(message));
    return true;
  }

  /** The attempt has succeeded. Milliseconds; with 0, silence of the server is not examined. */
  ready(heartbeatMs: number): void {
    const state = this.#state;
    if (state.kind !== 'open') return;
    const { socket } = state;
    state.cancelTimeout();
    const liveness = createLiveness({
      environment: this.#environment,
      heartbeatMs,
      probe: (nonce) => this.send(this.#options.createProbe(nonce)),
      onDead: () => this.#lose(socket, 'no answer to a probe'),
    });
    this.#state = { kind: 'ready', socket, readyAt: this.#environment.now(), liveness };
    this.#options.onStatus({ state: 'connected' });
  }

  /** Makes a planned attempt now. */
  retryNow(): void {
    if (this.#state.kind === 'waiting') this.#connect();
  }

  #connect(): void {
    this.#leaveWait();
    const { url, protocols, onStatus, onProblem } = this.#options;
    onStatus({ state: 'connecting' });
    let socket: Socket;
    try {
      socket = this.#environment.openSocket(url, protocols);
    } catch (error) {
      onProblem(`cannot connect to ${url}: ${error}`);
      return this.#planRetry();
    }
    const cancelTimeout = this.#environment.schedule(CONNECT_MS, () =>
      this.#lose(socket, 'not connected in time'),
    );
    this.#state = { kind: 'opening', socket, cancelTimeout };
    this.#listen(socket);
  }

  #listen(socket: Socket): void {
    socket.addEventListener('open', () => {
      const state = this.#state;
      if (state.kind !== 'opening' || state.socket !== socket) return;
      this.#state = { ...state, kind: 'open' };
      this.#options.onOpen();
    });
    socket.addEventListener('message', ({ data }) => {
      const link = this.#linkWith(socket);
      if (link) this.#receive(link, data);
    });
    // A close with more detail follows; without a listener some sockets throw.
    socket.addEventListener('error', () => {});
    socket.addEventListener('close', ({ code, reason }) => {
      const link = this.#linkWith(socket);
      if (link) this.#closed(link, code, reason);
    });
  }

  #receive(link: Link, data: unknown): void {
    const message = this.#options.parse(data);
    if (link.kind === 'ready') {
      link.liveness.received(message && this.#options.ackNonce(message));
    }
    this.#options.onMessage(message);
  }

  /** Gives a socket up without waiting for its other end, which may be out of reach. */
  #lose(socket: Socket, reason: string): void {
    const link = this.#linkWith(socket);
    if (!link) return;
    this.#release(link, GIVEN_UP);
    socket.close(GIVEN_UP, reason);
    this.#retryAfter(link, GIVEN_UP);
  }

  #closed(link: Link, code: number, reason: string): void {
    this.#release(link, code);
    if (REFUSALS.has(code)) this.#refuse(code, reason);
    else this.#retryAfter(link, code);
  }

  #release(link: Link, code: number): void {
    this.#state = { kind: 'held' };
    if (link.kind === 'ready') {
      link.liveness.stop();
      if (this.#environment.now() - link.readyAt >= STABLE_MS) this.#attempt = 0;
    } else link.cancelTimeout();
    this.#options.onDown(code);
  }

  /** The status comes before anything that is awaited: from here on there is no connection. */
  #retryAfter(link: Link, code: number): void {
    const prepared = this.#options.beforeRetry?.(code);
    this.#planRetry();
    if (prepared) void this.#holdUntil(prepared);
    else if (link.kind === 'opening') void this.#askWhetherRefused();
  }

  #planRetry(): void {
    const delay = reconnectDelay(this.#attempt, this.#environment.random());
    const retryAt = this.#environment.now() + delay;
    this.#attempt += 1;
    const cancelRetry = this.#environment.schedule(delay, () => this.#connect());
    this.#state = { kind: 'waiting', cancelRetry };
    this.#options.onStatus({ state: 'reconnecting', attempt: this.#attempt, retryAt });
  }

  async #holdUntil(prepared: Promise<void>): Promise<void> {
    this.#leaveWait();
    const held: State = { kind: 'held' };
    this.#state = held;
    await prepared;
    if (this.#state === held) this.#planRetry();
  }

  async #askWhetherRefused(): Promise<void> {
    if (!(await this.#options.isRefused?.()) || this.#state.kind !== 'waiting') return;
    this.#refuse(CLOSE.unauthenticated, 'the credential was not accepted');
  }

  #refuse(code: number, reason: string): void {
    this.#end();
    this.#options.onStatus({ state: 'refused', code, reason });
  }

  #wake(): void {
    if (this.#state.kind === 'ready') this.#state.liveness.check();
    else this.retryNow();
  }

  /** Chromium keeps the socket of a page in its cache open and silent; the server would probe it. */
  #putAway(): void {
    const link = linkOf(this.#state);
    if (link) this.#lose(link.socket, 'the page was put away');
  }

  #end(): void {
    this.#leaveWait();
    this.#state = { kind: 'stopped' };
    this.#stopListening();
    this.#stopListening = () => {};
  }

  #leaveWait(): void {
    if (this.#state.kind === 'waiting') this.#state.cancelRetry();
  }

  #linkWith(socket: Socket): Link | undefined {
    const link = linkOf(this.#state);
    return link?.socket === socket ? link : undefined;
  }
}

function linkOf(state: State): Link | undefined {
  return state.kind === 'opening' || state.kind === 'open' || state.kind === 'ready'
    ? state
    : undefined;
}
