import type { WatchEvent } from '#lib/protocol/watch-messages';
import type { EventBus, LoggedEvent } from './event-bus.ts';

type CallNews = Extract<WatchEvent, { type: 'call' }>;
type OnNews = (news: CallNews) => void;

interface Follower {
  readonly onNews: OnNews;
  /** The number of the newest event when it came: it gets what is newer. */
  readonly from: number;
}

export type CallFollowers = ReturnType<typeof createCallFollowers>;

/**
 * Those who follow single calls, or the calls of single runs: one subscription for all of them, and
 * only while there are any, as it costs each event a turn of the event loop.
 */
export function createCallFollowers(
  bus: Pick<EventBus, 'subscribe' | 'seq'>,
  by: 'tool_call_id' | 'run_id',
) {
  const byId = new Map<string, Set<Follower>>();
  let subscription: { close(): void } | undefined;

  /** One that throws takes nothing from the others; the bus reports its error. */
  function onEvents(events: readonly LoggedEvent[]): void {
    const errors: unknown[] = [];
    for (const { event } of events) {
      if (event.type !== 'call') continue;
      for (const { onNews, from } of byId.get(event[by]) ?? []) {
        try {
          if (event.seq > from) onNews(event);
        } catch (error) {
          errors.push(error);
        }
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  return {
    /** Calls `onNews` with each event of a call with this id, or of this run. Returns a function that ends it. */
    follow(id: string, onNews: OnNews): () => void {
      const followers = byId.get(id) ?? new Set();
      const follower = { onNews, from: bus.seq };
      byId.set(id, followers.add(follower));
      subscription ??= bus.subscribe({ onEvents });
      return () => {
        if (!followers.delete(follower) || followers.size > 0) return;
        byId.delete(id);
        if (byId.size > 0) return;
        subscription?.close();
        subscription = undefined;
      };
    },
  };
}
