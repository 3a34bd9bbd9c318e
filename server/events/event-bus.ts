import type { ServerMessage } from '#lib/protocol/server-messages';
import type { WatchEvent, WatchEventBody } from '#lib/protocol/watch-messages';
import { given } from '#lib/util/given';

/** An event with its place in the order and its text, made once for all watchers. */
export interface LoggedEvent {
  readonly event: WatchEvent;
  /** `JSON.stringify(event)`; computed at most once, however many watchers there are. */
  readonly json: string;
}

/** A snapshot as the JSON text that is sent, with the number of the newest event that is in it. */
export interface SnapshotText {
  readonly seq: number;
  readonly text: Buffer;
}

/** To a client instance, on whichever machine holds its socket. */
export type InstanceMessage =
  | { readonly type: 'send'; readonly message: ServerMessage }
  | { readonly type: 'close'; readonly code: number; readonly reason: string };

/**
 * It connects the parts that may sit on different machines: the ordered log
 * of what watchers see, and the way to a client's socket. It imports neither
 * calls nor cards. The embedded one serves a single process.
 */
export interface EventBus {
  /** Gives the event its number and hands it to every subscriber, in order. Returns the number. */
  publish(body: WatchEventBody): number;
  /** Number of the newest event. */
  readonly seq: number;
  /**
   * Calls `onEvents` with what is published from now on, several events of one
   * moment together. With `since`, first with what is newer than it; false when
   * the log no longer reaches back that far (take a snapshot instead).
   */
  subscribe(options: { since?: number; onEvents(events: readonly LoggedEvent[]): void }): {
    readonly complete: boolean;
    close(): void;
  };

  /** Takes what is sent to an instance, until closed. A second inbox of one address supersedes. */
  openInbox(instanceAddress: string, receive: (message: InstanceMessage) => void): () => void;
  /** False when no inbox of that instance is open. */
  deliver(instanceAddress: string, message: InstanceMessage): Promise<boolean>;
}

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
    /** True: all that is newer than `since` comes. */
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
