import type { SocketEnvironment } from '../net/environment.ts';
import { ReconnectingSocket, type SocketStatus } from '../net/reconnecting-socket.ts';
import { CLOSE } from '../protocol/close-codes.ts';
import type {
  EndedPart,
  EndedRequest,
  Snapshot,
  WatchEvent,
  WatchProbe,
  WatchProbeAck,
  WatchRequest,
  WatchServerMessage,
} from '../protocol/watch-messages.ts';
import type { FeedState } from './connection-store.ts';
import { parseWatchMessage } from './parse-watch-message.ts';

/** After twice this silence the server is probed: a dead line, or a server that stands still, sends no close. */
const HEARTBEAT_MS = 5_000;
/** Events that come this soon after a reconnect count as missed ones. */
const CATCH_UP_MS = 1_000;
/** Between two snapshots that are requested because of gaps: a gap may be in the snapshots too. */
const RESYNC_EVERY_MS = 10_000;

export interface WatchFeedDeps {
  readonly environment: SocketEnvironment;
  readonly url: string;
  /** Runs it once at the next frame. */
  schedule(flush: () => void): void;
  isOnline(): boolean;
  /** Asked when a socket did not open, since a browser does not give the reason. False: signed out. */
  hasAccess(): Promise<boolean>;
  /** Tells whether events refer to what no event introduced, so that a snapshot is due. */
  findGap(events: readonly WatchEvent[]): boolean;
  onSnapshot(snapshot: Snapshot): void;
  /** Ended calls that the snapshot did not have. */
  onEnded(part: EndedPart): void;
  /** One frame's events together. */
  onEvents(events: readonly WatchEvent[]): void;
  onState(state: FeedState): void;
  /** Once after each reconnect; null when a snapshot came in place of the missed events. */
  onCaughtUp(events: number | null): void;
  /** A frame that makes no sense, or the server's complaint about one of ours. */
  onProblem(message: string): void;
}

/** Where the feed stands between its connections. */
type Phase =
  | { readonly kind: 'never_connected' }
  | { readonly kind: 'disconnected' }
  | { readonly kind: 'catching_up'; readonly missed: Missed; readonly cancelReport: () => void }
  | { readonly kind: 'live' }
  | { readonly kind: 'closed' };

/** The number of missed events that have come, or that a snapshot came in their place. */
type Missed = number | 'snapshot';

/**
 * The watch socket (contract, section 8): requests what is newer than it has,
 * comes back after every loss, hands events on once per frame. It folds nothing
 * itself. The environment's sockets carry the credential.
 */
export class WatchFeed {
  readonly #deps: WatchFeedDeps;
  readonly #queue: ReturnType<typeof createEventQueue>;
  readonly #socket: ReconnectingSocket<
    WatchServerMessage | WatchProbeAck,
    WatchRequest | EndedRequest | WatchProbe
  >;
  #phase: Phase = { kind: 'never_connected' };
  #wantsSnapshot = true;
  /** Where the next part of the ended calls begins; undefined when all of them came. */
  #endedFrom: string | undefined;
  #resyncedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: WatchFeedDeps) {
    this.#deps = deps;
    this.#queue = createEventQueue({
      schedule: deps.schedule,
      onSnapshot: deps.onSnapshot,
      onEnded: deps.onEnded,
      onEvents: (events) => {
        if (deps.findGap(events)) this.#resync();
        deps.onEvents(events);
      },
    });
    this.#socket = new ReconnectingSocket({
      url: deps.url,
      protocols: [],
      environment: deps.environment,
      parse: parseWatchMessage,
      ackNonce: (message) => (message.type === 'probe_ack' ? message.nonce : undefined),
      createProbe: (nonce): WatchProbe => ({ type: 'probe', nonce }),
      isRefused: async () => !(await deps.hasAccess()),
      onOpen: () => this.#opened(),
      onMessage: (message) => this.#receive(message),
      onDown: (code) => this.#disconnected(code),
      onStatus: (status) => this.#report(status),
      onProblem: deps.onProblem,
    });
    deps.onState({ kind: 'connecting' });
    this.#socket.start();
  }

  /** Makes a planned attempt now. */
  retryNow(): void {
    this.#socket.retryNow();
  }

  close(): void {
    if (this.#phase.kind === 'closed') return;
    this.#setPhase({ kind: 'closed' });
    this.#queue.close();
    this.#socket.stop('The page is closing.');
  }

  #opened(): void {
    const isReturn = this.#phase.kind !== 'never_connected';
    this.#setPhase(isReturn ? this.#catchingUp() : { kind: 'live' });
    this.#socket.ready(HEARTBEAT_MS);
    this.#subscribe();
    this.#askForEnded();
  }

  #disconnected(code: number): void {
    if (code === CLOSE.slow) this.#wantsSnapshot = true;
    const { kind } = this.#phase;
    if (kind === 'live' || kind === 'catching_up') this.#setPhase({ kind: 'disconnected' });
  }

  #catchingUp(): Phase {
    const cancelReport = this.#deps.environment.schedule(CATCH_UP_MS, () => {
      if (this.#phase.kind !== 'catching_up') return;
      const { missed } = this.#phase;
      this.#setPhase({ kind: 'live' });
      this.#deps.onCaughtUp(missed === 'snapshot' ? null : missed);
    });
    return { kind: 'catching_up', missed: 0, cancelReport };
  }

  #setPhase(next: Phase): void {
    if (this.#phase.kind === 'catching_up') this.#phase.cancelReport();
    this.#phase = next;
  }

  #receive(message: ReturnType<typeof parseWatchMessage>): void {
    if (message?.type === 'probe_ack') return;
    if (!message) return this.#deps.onProblem('The watch socket sent a frame that makes no sense.');
    if (message.type === 'error') {
      return this.#deps.onProblem(`${message.code}: ${message.message}`);
    }
    if (message.type === 'snapshot') {
      this.#countMissed('snapshot');
      this.#queue.snapshot(message);
      return this.#askForRest(message.rest);
    }
    if (message.type === 'ended') return this.#receiveEnded(message);
    const events = message.type === 'batch' ? message.events : [message];
    this.#countMissed(this.#queue.events(events));
  }

  /** SW16: what is open is here; the rest is on its way while people decide. */
  #askForRest(rest: Snapshot['rest']): void {
    this.#wantsSnapshot = rest !== undefined && 'snapshot' in rest;
    this.#endedFrom = rest && 'ended' in rest ? rest.ended : undefined;
    if (this.#wantsSnapshot) this.#subscribe();
    else this.#askForEnded();
  }

  #receiveEnded(part: EndedPart): void {
    // A snapshot came meanwhile, which has them.
    if (this.#endedFrom === undefined) return;
    this.#queue.ended(part);
    this.#endedFrom = part.next ?? undefined;
    this.#askForEnded();
  }

  #askForEnded(): void {
    if (this.#endedFrom !== undefined) this.#socket.send({ type: 'ended', from: this.#endedFrom });
  }

  #countMissed(came: Missed): void {
    const phase = this.#phase;
    if (phase.kind !== 'catching_up' || phase.missed === 'snapshot') return;
    this.#phase = { ...phase, missed: came === 'snapshot' ? came : phase.missed + came };
  }

  #subscribe(): void {
    const { seq } = this.#queue;
    const since = this.#wantsSnapshot ? null : seq;
    const form = since !== null ? { since } : seq === null ? { parts: true } : {};
    this.#socket.send({ type: 'watch', changes: true, ...form });
  }

  #resync(): void {
    const now = this.#deps.environment.now();
    if (now - this.#resyncedAt < RESYNC_EVERY_MS) return;
    this.#resyncedAt = now;
    this.#wantsSnapshot = true;
    this.#subscribe();
  }

  #report(status: SocketStatus): void {
    const { onState, isOnline } = this.#deps;
    if (status.state === 'connected') onState({ kind: 'connected' });
    else if (status.state === 'reconnecting') {
      const { attempt, retryAt } = status;
      onState(isOnline() ? { kind: 'reconnecting', attempt, retryAt } : { kind: 'offline' });
    } else if (status.state === 'refused') {
      onState({ kind: 'refused' });
      this.close();
    }
  }
}

type EventQueueDeps = Pick<WatchFeedDeps, 'schedule' | 'onSnapshot' | 'onEnded' | 'onEvents'>;

/** Holds what came since the last frame and hands it on in one go, in order, each event once. */
function createEventQueue(deps: EventQueueDeps) {
  let seq: number | null = null;
  let snapshot: Snapshot | undefined;
  let parts: EndedPart[] = [];
  let events: WatchEvent[] = [];
  let scheduled = false;
  let closed = false;

  const flush = () => {
    scheduled = false;
    if (closed) return;
    const [first, ended, rest] = [snapshot, parts, events];
    snapshot = undefined;
    parts = [];
    events = [];
    if (first) deps.onSnapshot(first);
    for (const part of ended) deps.onEnded(part);
    if (rest.length > 0) deps.onEvents(rest);
  };
  const wake = () => {
    if (scheduled) return;
    scheduled = true;
    deps.schedule(flush);
  };
  const take = (event: WatchEvent): boolean => {
    if (seq === null || event.seq <= seq) return false;
    seq = event.seq;
    events.push(event);
    return true;
  };

  return {
    snapshot: (given: Snapshot): void => {
      seq = given.seq;
      snapshot = given;
      // The snapshot has what was queued before it.
      parts = [];
      events = [];
      wake();
    },
    ended: (part: EndedPart): void => {
      parts.push(part);
      wake();
    },
    /** Drops what is not newer than what it has (SF13). Returns how many it took. */
    events: (given: readonly WatchEvent[]): number => {
      const taken = given.filter(take).length;
      if (taken > 0) wake();
      return taken;
    },
    /** Number of the newest event taken; null before the first snapshot. */
    get seq() {
      return seq;
    },
    close: () => {
      closed = true;
    },
  };
}

interface FrameClock {
  /** `requestAnimationFrame`. */
  requestFrame(run: () => void): void;
  /** Calls `fire` once after `ms`; returns its undo. */
  schedule(ms: number, fire: () => void): () => void;
}

/** A hidden tab draws no frames; what is queued must not wait for it to be seen again. */
const HIDDEN_FLUSH_MS = 1_000;

/** Runs something at the next frame, or after a second where no frames are drawn. */
export const createFrameScheduler =
  ({ requestFrame, schedule }: FrameClock) =>
  (run: () => void): void => {
    let done = false;
    const once = () => {
      if (done) return;
      done = true;
      cancel();
      run();
    };
    const cancel = schedule(HIDDEN_FLUSH_MS, once);
    requestFrame(once);
  };
