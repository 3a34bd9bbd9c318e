import type { ClientMessage } from '../protocol/client-messages.ts';
import { CLOSE } from '../protocol/close-codes.ts';
import type { ServerMessage } from '../protocol/server-messages.ts';
import type { ClientStatus } from './client-status.ts';
import type { ClientEnvironment, ClientSocket } from './environment.ts';
import { createLiveness, type Liveness } from './liveness.ts';
import { parseServerMessage } from './parse-server-message.ts';
import { reconnectDelay, STABLE_MS } from './reconnect-delay.ts';

/** From the start of an attempt until the server's welcome. */
const CONNECT_MS = 5_000;
/** Close codes after which trying again cannot help. */
const REFUSALS: ReadonlySet<number> = new Set([CLOSE.unauthenticated, 4403]);

export interface ConnectionOptions {
  readonly url: string;
  readonly protocols: readonly string[];
  readonly environment: ClientEnvironment;
  /**
   * Asked after an attempt that never opened: a browser does not tell a page
   * whether the server said no or was not there.
   */
  readonly isRefused: (() => Promise<boolean>) | undefined;
  onOpen(): void;
  onMessage(message: ServerMessage): void;
  onDown(): void;
  /** Another page has this instance now; resolves when a new one is ready. */
  onSuperseded(): Promise<void>;
  onStatus(status: ClientStatus): void;
  readonly onProblem: (message: string) => void;
}

/** One socket after another, never two (CL2 to CL5). It knows nothing of calls and tools. */
export interface Connection {
  start(): void;
  stop(): void;
  /** False when there is no open socket. */
  send(message: ClientMessage): boolean;
  /** The server has welcomed us: the attempt has succeeded. */
  welcomed(heartbeatMs: number): void;
}

/** One socket's time, from the attempt to its end. What comes of an ended one is ignored. */
interface Generation {
  readonly socket: ClientSocket;
  opened: boolean;
  welcomedAt: number | null;
  readonly stopTimer: () => void;
  liveness: Liveness | null;
}

/**
 * Owns the socket. Written here instead of taking `partysocket`, whose retries
 * have their own timers and hide which socket an event came from: the rules on
 * generations, wake-ups and the welcome's deadline could not be kept exactly.
 */
export function createConnection(options: ConnectionOptions): Connection {
  const { environment, onProblem } = options;
  let current: Generation | null = null;
  let cancelRetry: (() => void) | null = null;
  let stopListening: readonly ((() => void) | undefined)[] = [];
  let attempt = 0;
  let running = false;

  function connect() {
    cancelRetry?.();
    cancelRetry = null;
    options.onStatus({ state: 'connecting' });
    let socket: ClientSocket;
    try {
      socket = environment.openSocket(options.url, options.protocols);
    } catch (error) {
      onProblem(`cannot connect to ${options.url}: ${error}`);
      return retry();
    }
    const stopTimer = environment.schedule(CONNECT_MS, () =>
      lose(generation, 'no welcome in time'),
    );
    const generation: Generation = {
      socket,
      stopTimer,
      opened: false,
      welcomedAt: null,
      liveness: null,
    };
    current = generation;
    listen(generation);
  }

  function listen(generation: Generation) {
    const { socket } = generation;
    socket.addEventListener('open', () => {
      if (current !== generation) return;
      generation.opened = true;
      options.onOpen();
    });
    socket.addEventListener('message', ({ data }) => {
      if (current !== generation) return;
      const message = parseServerMessage(data);
      generation.liveness?.heard(message);
      // At once, in the very event: a frozen page must not look alive (contract, section 5).
      if (message?.type === 'probe') send({ type: 'probe_ack', nonce: message.nonce });
      else if (message) options.onMessage(message);
    });
    // A close follows, and tells more; without a listener some sockets throw.
    socket.addEventListener('error', () => {});
    socket.addEventListener('close', ({ code, reason }) => {
      if (current === generation) void closed(generation, code, reason);
    });
  }

  /** Ends a generation from this side, without waiting for the other one to agree. */
  function lose(generation: Generation, reason: string) {
    if (current !== generation) return;
    release(generation);
    generation.socket.close(4000, reason);
    retry();
  }

  function release(generation: Generation) {
    current = null;
    generation.stopTimer();
    generation.liveness?.stop();
    const since = generation.welcomedAt;
    if (since !== null && environment.now() - since >= STABLE_MS) attempt = 0;
    options.onDown();
  }

  async function closed(generation: Generation, code: number, reason: string) {
    release(generation);
    if (REFUSALS.has(code)) return refuse(code, reason);
    // A status before anything is awaited: from here on there is no connection.
    retry();
    if (code === CLOSE.superseded) await supersede();
    else if (!generation.opened && options.isRefused && (await options.isRefused())) {
      if (running && !current) refuse(CLOSE.unauthenticated, 'the credential was not accepted');
    }
  }

  async function supersede() {
    cancelRetry?.();
    cancelRetry = null;
    await options.onSuperseded();
    if (running && !current) retry();
  }

  function retry() {
    cancelRetry?.();
    const delay = reconnectDelay(attempt, environment.random());
    attempt += 1;
    options.onStatus({ state: 'reconnecting', attempt, retryAt: environment.now() + delay });
    cancelRetry = environment.schedule(delay, connect);
  }

  function refuse(code: number, reason: string) {
    end();
    options.onStatus({ state: 'refused', code, reason });
  }

  function wake() {
    if (current) current.liveness?.check();
    else if (cancelRetry) connect();
  }

  /** Chromium keeps the socket of a page in its cache open and silent: the server would wait for probes. */
  function putAway() {
    if (current) lose(current, 'the page was put away');
  }

  function end() {
    running = false;
    cancelRetry?.();
    cancelRetry = null;
    for (const stop of stopListening) stop?.();
    stopListening = [];
  }

  function send(message: ClientMessage): boolean {
    if (!current?.opened) return false;
    current.socket.send(JSON.stringify(message));
    return true;
  }

  return {
    send,
    start() {
      if (running) return;
      running = true;
      attempt = 0;
      stopListening = [environment.onWake(wake), environment.onPutAway?.(putAway)];
      connect();
    },
    stop() {
      end();
      const last = current;
      if (last) {
        release(last);
        last.socket.close(1000, 'the client stopped');
      }
      options.onStatus({ state: 'stopped' });
    },
    welcomed(heartbeatMs) {
      const generation = current;
      if (!generation) return;
      generation.stopTimer();
      generation.welcomedAt = environment.now();
      generation.liveness = createLiveness({
        environment,
        heartbeatMs,
        probe: (nonce) => send({ type: 'probe', nonce }),
        onDead: () => lose(generation, 'no answer to a probe'),
      });
      options.onStatus({ state: 'connected' });
    },
  };
}
