import type { WatchEvent } from '#lib/protocol/watch-messages';
import type { EventBus, LoggedEvent } from './event-bus.ts';

type CallNews = Extract<WatchEvent, { type: 'call' }>;
type OnNews = (news: CallNews) => void;

export type CallFollowers = ReturnType<typeof createCallFollowers>;

/**
 * Those who follow single calls, or the calls of single runs: one subscription for all of them, and
 * only while there are any, as it costs each event a turn of the event loop.
 */
export function createCallFollowers(
  bus: Pick<EventBus, 'subscribe'>,
  by: 'tool_call_id' | 'run_id',
) {
  const byId = new Map<string, Set<OnNews>>();
  let subscription: { close(): void } | undefined;

  function onEvents(events: readonly LoggedEvent[]): void {
    for (const { event } of events) {
      if (event.type !== 'call') continue;
      for (const onNews of byId.get(event[by]) ?? []) onNews(event);
    }
  }

  return {
    /** Calls `onNews` with each event of a call with this id, or of this run. Returns a function that ends it. */
    follow(id: string, onNews: OnNews): () => void {
      const followers = byId.get(id) ?? new Set();
      byId.set(id, followers.add(onNews));
      subscription ??= bus.subscribe({ onEvents });
      return () => {
        if (!followers.delete(onNews) || followers.size > 0) return;
        byId.delete(id);
        if (byId.size > 0) return;
        subscription?.close();
        subscription = undefined;
      };
    },
  };
}
