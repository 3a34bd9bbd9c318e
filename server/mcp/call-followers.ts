import type { CardUpdate } from '#lib/protocol/card';
import type { EventBus } from '../events/room.ts';

type OnChange = (update: CardUpdate) => void;

export type CallFollowers = ReturnType<typeof createCallFollowers>;

/** Those who follow one call, among all that are open: one subscription for all of them. */
export function createCallFollowers(bus: Pick<EventBus, 'subscribe'>) {
  const byCall = new Map<string, Set<OnChange>>();
  const subscription = bus.subscribe({
    onEvents(events) {
      if (byCall.size === 0) return;
      for (const { event } of events) {
        if (event.type !== 'call') continue;
        for (const onChange of byCall.get(event.tool_call_id) ?? []) onChange(event.update);
      }
    },
  });
  return {
    /** Calls `onChange` with each update of the call's card. Returns a function that ends it. */
    follow(callId: string, onChange: OnChange): () => void {
      const followers = byCall.get(callId) ?? new Set();
      byCall.set(callId, followers.add(onChange));
      return () => {
        followers.delete(onChange);
        if (followers.size === 0) byCall.delete(callId);
      };
    },
    close: () => subscription.close(),
  };
}
