import type { Snapshot, WatchEvent } from '../../../lib/protocol/watch-messages.ts';
import { snapshotSchema, watchEventSchema } from '../../../lib/protocol/watch-messages.ts';
import type { Callboard } from '../../start-callboard.ts';

export interface StreamedEvent {
  readonly id: number;
  readonly event: Snapshot | WatchEvent;
}

export interface EventStream {
  readonly status: number;
  readonly headers: Headers;
  readonly events: readonly StreamedEvent[];
  /** Reads on until an event fits; throws when the stream ends before. */
  until(fits: (event: Snapshot | WatchEvent) => boolean): Promise<StreamedEvent>;
  close(): void;
}

/** Server-Sent Events of a run, read as a program without an EventSource would. */
export async function openEventStream(
  board: Callboard,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<EventStream> {
  const controller = new AbortController();
  const response = await fetch(board.url + path, {
    headers: { authorization: `Bearer ${board.token}`, ...headers },
    signal: controller.signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const events: StreamedEvent[] = [];
  let rest = '';
  let looked = 0;

  async function until(fits: (event: Snapshot | WatchEvent) => boolean): Promise<StreamedEvent> {
    for (;;) {
      for (; looked < events.length; looked += 1) {
        const found = events[looked];
        if (found && fits(found.event)) return found;
      }
      const chunk = await reader?.read();
      if (!chunk || chunk.done) throw new Error(`The stream ended after ${events.length} events`);
      const blocks = (rest + chunk.value).split('\n\n');
      rest = blocks.pop() ?? '';
      events.push(...blocks.flatMap(parseBlock));
    }
  }

  return {
    status: response.status,
    headers: response.headers,
    events,
    until,
    close: () => controller.abort(),
  };
}

function parseBlock(block: string): StreamedEvent[] {
  const id = /^id: (\d+)$/m.exec(block)?.[1];
  const data = /^data: (.*)$/m.exec(block)?.[1];
  if (id === undefined || data === undefined) return [];
  const value = JSON.parse(data);
  const event =
    value.type === 'snapshot' ? snapshotSchema.parse(value) : watchEventSchema.parse(value);
  return [{ id: Number(id), event }];
}
