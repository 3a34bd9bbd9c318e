import type { ServerResponse } from 'node:http';
import type { WatchEvent } from '#lib/protocol/watch-messages';
import { given } from '#lib/util/given';
import type { Logger } from '../base/logger.ts';
import type { EventBus, LoggedEvent, SnapshotText } from '../events/room.ts';
import { type EventWriterDeps, openEventWriter } from './event-writer.ts';

export interface RunEventStreamDeps extends EventWriterDeps {
  readonly bus: Pick<EventBus, 'subscribe'>;
  readonly snapshot: (of: { readonly runId: string }) => Promise<SnapshotText>;
  readonly logger: Logger;
}

/**
 * Sends one run's events as Server-Sent Events until the reader hangs up: first
 * what is newer than `since`, or a snapshot where the log does not reach back
 * that far; then what happens, in order and without a gap.
 */
export function streamRunEvents(
  deps: RunEventStreamDeps,
  outgoing: ServerResponse,
  { runId, since }: { readonly runId: string; readonly since: number | undefined },
): void {
  const { send, isOver } = openEventWriter(deps, outgoing);
  /** What comes while the snapshot is being made. */
  const held: LoggedEvent[] = [];
  let forward = (events: readonly LoggedEvent[]): void => {
    held.push(...events);
  };
  const subscription = deps.bus.subscribe({
    ...given({ since }),
    onEvents: (events) => forward(events),
  });
  const release = (afterSeq: number) => {
    forward = (events) => send(toText(events, runId, afterSeq));
    forward(held.splice(0));
  };
  outgoing.once('close', () => subscription.close());
  if (isOver) return;
  if (since !== undefined && subscription.complete) {
    release(since);
    return;
  }
  deps.snapshot({ runId }).then(
    ({ seq, text }) => {
      send(`id: ${seq}\ndata: ${text}\n\n`);
      release(seq);
    },
    (error: unknown) => {
      deps.logger.error(error);
      outgoing.destroy();
    },
  );
}

const toText = (events: readonly LoggedEvent[], runId: string, afterSeq: number): string =>
  events
    .filter(({ event }) => event.seq > afterSeq && isOfRun(event, runId))
    .map(({ event, json }) => `id: ${event.seq}\ndata: ${json}\n\n`)
    .join('');

function isOfRun(event: WatchEvent, runId: string): boolean {
  switch (event.type) {
    case 'call':
    case 'message':
    case 'message_delta':
    case 'approval':
      return event.run_id === runId;
    case 'run':
      return event.run.run_id === runId;
    // Agents read these streams: how they are watched is for people alone.
    case 'autonomy':
    case 'devices':
    case 'tools':
    case 'clients':
    case 'tools_changed':
    case 'clients_changed':
      return false;
  }
}
