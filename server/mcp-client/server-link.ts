import { reconnectCap, STABLE_MS } from '#lib/net/backoff';
import { errorMessage } from '#lib/util/error-message';
import type { Clock } from '../base/clock.ts';
import type { Connection, ConnectionEvents, ConnectOptions } from './connect-server.ts';

const LONGEST_MS = 60_000;
/** An error so short before the end of a connection is its reason. */
const SAME_END_MS = 1_000;
/** The text of an error may be the server's: each look at the servers goes over all of it. */
const MOST_ERROR_CHARS = 8_000;

/** Milliseconds before an attempt, counted from 0: doubles up to a minute, half of it by chance. */
function retryDelay(attempt: number, random: number): number {
  const cap = reconnectCap(attempt, LONGEST_MS);
  return Math.max(reconnectCap(0), Math.floor((cap * (1 + random)) / 2));
}

/** `waiting`: a connection was lost; `failed`: the last attempt to connect was in vain. */
export type LinkState = 'connecting' | 'connected' | 'waiting' | 'failed' | 'stopped';

export interface LinkDeps {
  connect(
    options: Pick<ConnectOptions, keyof ConnectionEvents | 'isLegacy' | 'signal'>,
  ): Promise<Connection>;
  /** Once it is there. What is thrown counts as a failed attempt. */
  opened(connection: Connection, signal: AbortSignal): Promise<void>;
  listChanged(): void;
  /** The state is another one, or what went wrong last. */
  changed(): void;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Keeps one connection to a server: connects again, later each time, until it is stopped. */
export class ServerLink {
  readonly #deps: LinkDeps;
  #state: LinkState = 'connecting';
  #connection: Connection | undefined;
  #attempt = 0;
  #connectedAt = 0;
  #isLegacy = false;
  #abort = new AbortController();
  #lastError: { readonly message: string; readonly at: number } | null = null;
  #nextTryAt: number | null = null;
  #cancelRetry: (() => void) | undefined;
  /** The work that is under way; the next attempt begins after it. */
  #work: Promise<void> = Promise.resolve();

  constructor(deps: LinkDeps) {
    this.#deps = deps;
  }

  get connection(): Connection | undefined {
    return this.#state === 'connected' ? this.#connection : undefined;
  }

  get status() {
    const { version = null, era = null, server = null } = this.#connection ?? {};
    return {
      state: this.#state,
      lastError: this.#lastError,
      nextTryAt: this.#nextTryAt,
      protocol: version,
      era,
      server,
    };
  }

  start(): void {
    this.#work = this.#work.then(() => this.#open());
  }

  /** At once, whether there is a connection or not. */
  async reconnect(): Promise<void> {
    if (this.#state === 'stopped') return;
    this.#cancelRetry?.();
    this.#attempt = 0;
    this.#abort.abort(new Error('It is connected anew'));
    // Its calls wait from now on, not only once the old connection is closed.
    this.#nextTryAt = null;
    this.#set('connecting');
    await this.#drop();
    this.start();
  }

  async stop(): Promise<void> {
    this.#set('stopped');
    this.#cancelRetry?.();
    this.#abort.abort(new Error('The server stops'));
    await this.#drop();
    await this.#work;
  }

  /** The connection is of no use any more. */
  async fail(connection: Connection, error: unknown): Promise<void> {
    if (connection !== this.#connection) return;
    this.report(error);
    this.#lost(connection);
    await connection.close();
  }

  /** At once: its server is there, and does not know it any more. */
  async renew(connection: Connection): Promise<void> {
    if (connection === this.#connection) await this.reconnect();
  }

  report(error: unknown): void {
    const message = errorMessage(error).slice(0, MOST_ERROR_CHARS);
    this.#lastError = { message, at: this.#deps.clock.now() };
    this.#deps.changed();
  }

  async #drop(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close();
  }

  async #open(): Promise<void> {
    // Asked for twice, the first one has made the connection.
    if (this.#state === 'stopped' || this.#connection) return;
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    this.#nextTryAt = null;
    this.#set('connecting');
    let isClosed = false;
    let connection: Connection | undefined;
    try {
      connection = await this.#deps.connect({
        listChanged: () => this.#deps.listChanged(),
        signal,
        isLegacy: this.#isLegacy,
        closed: () => {
          isClosed = true;
          if (connection) this.#closed(connection);
        },
        failed: (error) => this.report(error),
      });
      this.#isLegacy = connection.era === 'legacy';
      await this.#deps.opened(connection, signal);
      signal.throwIfAborted();
      if (isClosed) throw new Error('The server closed the connection while its tools were read.');
      this.#connection = connection;
      this.#connectedAt = this.#deps.clock.now();
      this.#set('connected');
    } catch (error) {
      // A connection that cannot be closed keeps no other from being made.
      await connection?.close().catch((failed: unknown) => this.report(failed));
      // It is no failure to be connected anew, or stopped.
      if (signal.aborted) return;
      // Some programs of the older protocol end when they are asked which they speak.
      this.#isLegacy = !this.#isLegacy;
      this.report(error);
      this.#retry('failed');
    }
  }

  /** By the server, which gives no reason; one that the transport gave just before is kept. */
  #closed(connection: Connection): void {
    const { now } = this.#deps.clock;
    const isKnown = this.#lastError !== null && now() - this.#lastError.at < SAME_END_MS;
    if (connection === this.#connection && !isKnown) {
      this.report(new Error('The server closed the connection, or its program ended.'));
    }
    this.#lost(connection);
  }

  #lost(connection: Connection): void {
    if (connection !== this.#connection) return;
    this.#connection = undefined;
    if (this.#deps.clock.now() - this.#connectedAt >= STABLE_MS) this.#attempt = 0;
    this.#retry('waiting');
  }

  #retry(state: 'waiting' | 'failed'): void {
    if (this.#state === 'stopped') return;
    const { clock, random } = this.#deps;
    const ms = retryDelay(this.#attempt, random());
    this.#attempt += 1;
    this.#nextTryAt = clock.now() + ms;
    this.#set(state);
    this.#cancelRetry = clock.schedule(ms, () => this.start());
  }

  #set(state: LinkState): void {
    if (this.#state === 'stopped') return;
    this.#state = state;
    this.#deps.changed();
  }
}
