import type { ClientEnvironment, ClientSocket } from '../client/environment.ts';
import { createLiveness, type Liveness } from '../client/liveness.ts';
import { reconnectDelay, STABLE_MS } from '../client/reconnect-delay.ts';
import { CLOSE } from '../protocol/close-codes.ts';
import type { Snapshot, WatchEvent, WatchProbe, WatchRequest } from '../protocol/watch-messages.ts';
import type { FeedState } from './connection-store.ts';
import { createEventQueue } from './event-queue.ts';
import { parseWatchMessage } from './parse-watch-message.ts';

/** From the start of an attempt until it is open. */
const CONNECT_MS = 5_000;
/** Close code of a socket that does not answer. */
const GIVEN_UP = 4000;
/** After twice this silence the server is asked: a line that died says nothing by itself. */
const HEARTBEAT_MS = 10_000;
/** What comes this soon after a reconnect is counted as what was missed. */
const CATCH_UP_MS = 1_000;
/** A server that cannot introduce something is not asked for snapshot after snapshot. */
const RESYNC_EVERY_MS = 10_000;

export interface WatchFeedDeps {
  readonly environment: Pick<
    ClientEnvironment,
    'openSocket' | 'now' | 'schedule' | 'random' | 'newId' | 'onWake'
  >;
  readonly url: string;
  /** Runs it once at the next frame. */
  schedule(flush: () => void): void;
  isOnline(): boolean;
  /** Asked when a socket did not open, since a browser does not tell why. False: signed out. */
  hasAccess(): Promise<boolean>;
  /** Whether events speak of what was never introduced, so that a snapshot is due. */
  findGap(events: readonly WatchEvent[]): boolean;
  onSnapshot(snapshot: Snapshot): void;
  /** One frame's events together. */
  onEvents(events: readonly WatchEvent[]): void;
  onState(state: FeedState): void;
  /** Once after each reconnect; null when a snapshot came in place of the missed events. */
  onCaughtUp(events: number | null): void;
  /** A frame that makes no sense, or the server's complaint about one of ours. */
  onProblem(message: string): void;
}

export interface WatchFeed {
  /** Tries at once instead of at the end of its wait. */
  retryNow(): void;
  close(): void;
}

/**
 * Owns the watch socket (contract, section 8): asks for what is newer than it
 * has, comes back after every loss, hands events on once per frame. It folds
 * nothing itself. The environment's sockets carry the credential; none is known here.
 */
export function createWatchFeed(deps: WatchFeedDeps): WatchFeed {
  const { environment } = deps;
  let socket: ClientSocket | undefined;
  let cancelTimer: (() => void) | undefined;
  let attempt = 0;
  let openedAt: number | null = null;
  let liveness: Liveness | undefined;
  let stopConnectTimer = () => {};
  let resyncedAt = Number.NEGATIVE_INFINITY;
  let wantsSnapshot = true;
  let wasConnected = false;
  let missed: number | null | undefined;
  let ended = false;

  const queue = createEventQueue({
    schedule: deps.schedule,
    onSnapshot: deps.onSnapshot,
    onEvents: (events) => {
      if (deps.findGap(events)) resync();
      deps.onEvents(events);
    },
  });

  const tellCaughtUp = () => {
    if (missed !== undefined) deps.onCaughtUp(missed);
    missed = undefined;
  };

  const subscribe = () => {
    const since = wantsSnapshot ? null : queue.seq;
    const request: WatchRequest = { type: 'watch', ...(since === null ? {} : { since }) };
    socket?.send(JSON.stringify(request));
  };

  const resync = () => {
    if (environment.now() - resyncedAt < RESYNC_EVERY_MS) return;
    resyncedAt = environment.now();
    wantsSnapshot = true;
    subscribe();
  };

  const receive = (data: unknown) => {
    const message = parseWatchMessage(data);
    liveness?.heard(message?.type === 'probe_ack' ? message : undefined);
    if (message?.type === 'probe_ack') return;
    if (!message) return deps.onProblem('The watch socket sent a frame that makes no sense.');
    if (message.type === 'error') return deps.onProblem(`${message.code}: ${message.message}`);
    if (message.type === 'snapshot') {
      wantsSnapshot = false;
      if (missed !== undefined) missed = null;
      return queue.snapshot(message);
    }
    const taken = queue.events(message.type === 'batch' ? message.events : [message]);
    if (missed !== undefined && missed !== null) missed += taken;
  };

  const connect = () => {
    cancelTimer?.();
    cancelTimer = undefined;
    if (ended || socket) return;
    const opened = environment.openSocket(deps.url, []);
    socket = opened;
    openedAt = null;
    stopConnectTimer = environment.schedule(CONNECT_MS, () => giveUp(opened));
    opened.addEventListener('open', () => {
      if (socket !== opened) return;
      stopConnectTimer();
      openedAt = environment.now();
      liveness = watchOver(opened);
      if (wasConnected) {
        missed = 0;
        cancelTimer = environment.schedule(CATCH_UP_MS, tellCaughtUp);
      }
      wasConnected = true;
      deps.onState({ kind: 'connected' });
      subscribe();
    });
    opened.addEventListener('message', ({ data }) => {
      if (socket === opened) receive(data);
    });
    opened.addEventListener('close', ({ code }) => lost(opened, code));
  };

  const watchOver = (opened: ClientSocket): Liveness =>
    createLiveness({
      environment,
      heartbeatMs: HEARTBEAT_MS,
      probe: (nonce) => {
        const probe: WatchProbe = { type: 'probe', nonce };
        opened.send(JSON.stringify(probe));
      },
      onDead: () => giveUp(opened),
    });

  /** Without waiting for the other end, which may be out of reach. */
  const giveUp = (dead: ClientSocket) => {
    lost(dead, GIVEN_UP);
    dead.close(GIVEN_UP, 'no answer');
  };

  const release = () => {
    stopConnectTimer();
    liveness?.stop();
    liveness = undefined;
    cancelTimer?.();
    cancelTimer = undefined;
  };

  const lost = (closed: ClientSocket, code: number) => {
    if (ended || socket !== closed) return;
    socket = undefined;
    missed = undefined;
    release();
    if (code === CLOSE.unauthenticated) return refuse();
    if (code === CLOSE.slow) wantsSnapshot = true;
    const neverOpened = openedAt === null;
    if (openedAt !== null && environment.now() - openedAt >= STABLE_MS) attempt = 0;
    wait();
    if (neverOpened) void askWhy();
  };

  const askWhy = async () => {
    if (!(await deps.hasAccess()) && !ended && !socket) refuse();
  };

  const wait = () => {
    const delay = reconnectDelay(attempt, environment.random());
    attempt += 1;
    const retryAt = environment.now() + delay;
    deps.onState(
      deps.isOnline() ? { kind: 'reconnecting', attempt, retryAt } : { kind: 'offline' },
    );
    cancelTimer = environment.schedule(delay, connect);
  };

  const refuse = () => {
    cancelTimer?.();
    cancelTimer = undefined;
    deps.onState({ kind: 'refused' });
    feed.close();
  };

  const stopListening = environment.onWake(() => {
    if (!socket) connect();
    else liveness?.check();
  });

  const feed: WatchFeed = {
    retryNow: connect,
    close: () => {
      if (ended) return;
      ended = true;
      release();
      stopListening();
      queue.close();
      socket?.close(1000, 'The page is closing.');
    },
  };

  deps.onState({ kind: 'connecting' });
  connect();
  return feed;
}
