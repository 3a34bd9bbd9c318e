import type { WatchEvent } from '#lib/protocol/watch-messages';
import type { EventBus, LoggedEvent } from './event-bus.ts';

/** The events of one run, for one who is shown first what there was before. */
export interface FollowedRun {
  /** From now on, and first those that were held; none up to the number `after`. */
  release(after: number, show: (event: WatchEvent) => void): void;
  close(): void;
}

/** Holds what comes before `release`. */
export function followRun(bus: Pick<EventBus, 'subscribe'>, runId: string): FollowedRun {
  const held: LoggedEvent[] = [];
  const isOf = ({ event }: LoggedEvent) => runIdOf(event) === runId;
  let take = (events: readonly LoggedEvent[]): void => void held.push(...events.filter(isOf));
  const subscription = bus.subscribe({ onEvents: (events) => take(events) });
  return {
    release(after, show) {
      take = (events) => {
        for (const logged of events)
          if (logged.event.seq > after && isOf(logged)) show(logged.event);
      };
      take(held.splice(0));
    },
    close: () => subscription.close(),
  };
}

function runIdOf(event: WatchEvent): string | undefined {
  if (event.type === 'run') return event.run.run_id;
  return 'run_id' in event ? event.run_id : undefined;
}
