import { createTestWorld } from '../../net/testing/test-socket.ts';
import type { EndedPart, Snapshot, WatchEvent } from '../../protocol/watch-messages.ts';
import type { FeedState } from '../connection-store.ts';
import { WatchFeed } from '../watch-feed.ts';

/** A feed whose sockets, time, frames and luck are the test's. */
export function setupFeed(given: { access?: boolean; gap?: boolean } = {}) {
  const frames: (() => void)[] = [];
  const states: FeedState[] = [];
  const handed: (
    | { snapshot: Snapshot }
    | { ended: EndedPart }
    | { events: readonly WatchEvent[] }
  )[] = [];
  const caughtUp: (number | null)[] = [];
  const problems: string[] = [];
  const { environment, clock, sockets, pass, wake, putAway } = createTestWorld();
  const world = Object.assign(clock, { online: true, access: true, gap: false, ...given });

  const feed = new WatchFeed({
    url: 'ws://test/ws/watch',
    environment,
    schedule: (flush) => frames.push(flush),
    isOnline: () => world.online,
    hasAccess: async () => world.access,
    findGap: () => world.gap,
    onSnapshot: (snapshot) => handed.push({ snapshot }),
    onEnded: (ended) => handed.push({ ended }),
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
    pass,
    wake,
    putAway,
    /** The socket of the latest attempt. */
    get socket() {
      const last = sockets.at(-1);
      if (!last) throw new Error('The feed has opened no socket.');
      return last;
    },
    frame: () => {
      for (const flush of frames.splice(0)) flush();
    },
  };
}
