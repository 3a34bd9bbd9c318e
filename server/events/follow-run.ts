import type { WatchEvent } from '#lib/protocol/watch-messages';
import { given } from '#lib/util/given';
import type { EventBus, LoggedEvent } from './event-bus.ts';

/**
 * The events of one run, for one who is shown first what there was before: what comes is held until
 * `release`. With `since`, first what is newer than it, where the log reaches back so far.
 */
export function followRun(bus: Pick<EventBus, 'subscribe'>, runId: string, since?: number) {
  const held: LoggedEvent[] = [];
  let take = (events: readonly LoggedEvent[]): void => void held.push(...events);
  const subscription = bus.subscribe({
    ...given({ since }),
    onEvents(events) {
      take(events.filter(({ event }) => runIdOf(event) === runId));
    },
  });
  /** From now on, and first those that were held; none up to the number `after`. */
  const releaseTogether = (after: number, show: (events: readonly LoggedEvent[]) => void): void => {
    take = (events) => show(events.filter(({ event }) => event.seq > after));
    take(held.splice(0));
  };
  return {
    /** Whether all that is newer than `since` comes. */
    isComplete: subscription.complete,
    releaseTogether,
    release: (after: number, show: (event: WatchEvent) => void): void =>
      releaseTogether(after, (events) => {
        for (const { event } of events) show(event);
      }),
    close: (): void => subscription.close(),
  };
}

/** The run that an event is of; undefined for lists, and for how agents are watched. */
export function runIdOf(event: WatchEvent): string | undefined {
  if (event.type === 'run') return event.run.run_id;
  return 'run_id' in event ? event.run_id : undefined;
}
