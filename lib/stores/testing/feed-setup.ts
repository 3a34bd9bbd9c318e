import type { ClientSocket } from '../../client/environment.ts';
import type { Snapshot, WatchEvent } from '../../protocol/watch-messages.ts';
import type { FeedState } from '../connection-store.ts';
import { createWatchFeed } from '../watch-feed.ts';

type Listeners = {
  open: () => void;
  message: (event: { data: unknown }) => void;
  close: (event: { code: number; reason: string }) => void;
};

/** A socket whose other end is the test. */
function createTestSocket() {
  const listeners = new Map<string, (event: never) => void>();
  const sent: unknown[] = [];
  let closedWith: number | undefined;
  const tell = <T extends keyof Listeners>(type: T, ...args: Parameters<Listeners[T]>) => {
    const listener = listeners.get(type) as ((...given: typeof args) => void) | undefined;
    listener?.(...args);
  };
  const socket: ClientSocket = {
    send: (text) => sent.push(JSON.parse(text)),
    close: (code) => {
      closedWith = code;
    },
    addEventListener: (type: string, listener: (event: never) => void) =>
      listeners.set(type, listener),
  };
  return {
    socket,
    sent,
    get closedWith() {
      return closedWith;
    },
    open: () => tell('open'),
    receive: (message: unknown) => tell('message', { data: JSON.stringify(message) }),
    receiveRaw: (data: unknown) => tell('message', { data }),
    lose: (code = 1006) => tell('close', { code, reason: '' }),
  };
}

/** A feed whose sockets, time, frames and luck are the test's. */
export function setupFeed(given: { access?: boolean; gap?: boolean } = {}) {
  const sockets: ReturnType<typeof createTestSocket>[] = [];
  const timers = new Set<{ at: number; fire: () => void }>();
  const frames: (() => void)[] = [];
  const states: FeedState[] = [];
  const handed: ({ snapshot: Snapshot } | { events: readonly WatchEvent[] })[] = [];
  const caughtUp: (number | null)[] = [];
  const problems: string[] = [];
  const world = { now: 1_000_000, online: true, access: true, gap: false, ...given };
  let wake: (() => void) | undefined;

  const feed = createWatchFeed({
    url: 'ws://test/ws/watch',
    environment: {
      openSocket: () => {
        const made = createTestSocket();
        sockets.push(made);
        return made.socket;
      },
      now: () => world.now,
      random: () => 0.5,
      newId: () => 'nonce',
      schedule: (ms, fire) => {
        const timer = { at: world.now + ms, fire };
        timers.add(timer);
        return () => timers.delete(timer);
      },
      onWake: (listener) => {
        wake = listener;
        return () => {
          wake = undefined;
        };
      },
    },
    schedule: (flush) => frames.push(flush),
    isOnline: () => world.online,
    hasAccess: async () => world.access,
    findGap: () => world.gap,
    onSnapshot: (snapshot) => handed.push({ snapshot }),
    onEvents: (events) => handed.push({ events }),
    onState: (state) => states.push(state),
    onCaughtUp: (events) => caughtUp.push(events),
    onProblem: (message) => problems.push(message),
  });

  return {
    feed,
    world,
    sockets,
    states,
    handed,
    caughtUp,
    problems,
    /** The socket of the latest attempt. */
    get socket() {
      const last = sockets.at(-1);
      if (!last) throw new Error('The feed has opened no socket.');
      return last;
    },
    frame: () => {
      for (const flush of frames.splice(0)) flush();
    },
    pass: (ms: number) => {
      world.now += ms;
      for (const timer of [...timers]) {
        if (timer.at > world.now) continue;
        timers.delete(timer);
        timer.fire();
      }
    },
    wake: () => wake?.(),
  };
}
