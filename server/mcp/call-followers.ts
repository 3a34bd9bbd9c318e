import type { EventBus } from '../events/event-bus.ts';

/** Those who follow one call, among all that are open: one subscription for all of them. */
export interface CallFollowers {
  /** Calls `onChange` after each update of the call's card. Returns a function that ends it. */
  follow(callId: string, onChange: () => void): () => void;
  close(): void;
}

export function createCallFollowers(bus: Pick<EventBus, 'subscribe'>): CallFollowers {
  const byCall = new Map<string, Set<() => void>>();
  const subscription = bus.subscribe({
    onEvents(events) {
      if (byCall.size === 0) return;
      for (const { event } of events) {
        if (event.type !== 'call') continue;
        for (const onChange of byCall.get(event.tool_call_id) ?? []) onChange();
      }
    },
  });
  return {
    follow(callId, onChange) {
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
