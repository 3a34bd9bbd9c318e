import { setTimeout as sleep } from 'node:timers/promises';
import type { WireCallEvent } from '#lib/protocol/call-record';
import { callEventsPageSchema } from '#lib/protocol/rest';
import type { Context } from './command.ts';

/** Between two looks at a call that is open. */
const LOOK_MS = 250;

/** Prints each event of a call once, in order, until the one that ends it or the deadline. */
export async function followEvents(context: Context, id: string, deadline: number): Promise<void> {
  let after = 0;
  while (Date.now() < deadline) {
    const path = `/v1/tool_calls/${id}/events?after=${after}&limit=200`;
    const page = await context.server().get(path, callEventsPageSchema, context.signal);
    for (const event of page.events) printEvent(context, event);
    if (page.events.some(isEnd)) return;
    after = page.events.at(-1)?.version ?? after;
    if (page.next_after === null) await sleep(LOOK_MS, undefined, { signal: context.signal });
  }
}

const isEnd = ({ update: { status } }: WireCallEvent): boolean =>
  status === 'SUCCESS' || status === 'ERROR';

function printEvent({ out }: Context, event: WireCallEvent): void {
  if (out.isJson) return out.jsonLine({ event });
  const { status, phase, tip, progress } = event.update;
  const done = progress && `${progress.done}${progress.total ? `/${progress.total}` : ''}`;
  const time = new Date(event.at * 1_000).toISOString().slice(11, 23);
  out.note([time, event.type, event.actor, status, phase, tip, done].filter(Boolean).join('  '));
}
