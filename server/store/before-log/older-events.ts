import type { Call, CallFields } from '#lib/call/call';
import type { CallEventEntry, CallPatch, PublishedEvent } from '#lib/call/call-event';
import type { CardUpdate } from '#lib/protocol/card';
import { given } from '#lib/util/given';

/** An event as `call_events` has it. */
type OlderEvent = Omit<PublishedEvent, 'published' | 'card' | 'shown'> & {
  /** The patch has these of the row of its call. */
  readonly in_row?: readonly ('result' | 'display')[];
  /** By places in `SHOWN`, what the update has of the patch. */
  readonly shows?: readonly number[];
};

const SHOWN = [
  ['params', 'args'],
  ['result', 'result'],
  ['result', 'display'],
  ['preview', 'preview'],
  ['error', 'error'],
  ['attachments', 'attachments'],
] as const satisfies readonly (readonly [keyof CardUpdate, keyof CallPatch])[];

/**
 * The events of a row of `call_events`. What people were shown of them is told; of what they changed
 * the phase alone is kept, as the event that imports the call has the rest.
 */
export const readOlderEvents = (text: string, call: Call): CallEventEntry[] =>
  (JSON.parse(text) as OlderEvent[]).map((event) => toEntry(event, call));

function toEntry(event: OlderEvent, call: Call): CallEventEntry {
  const { version, type, at, actor, via, attempt, patch, in_row = [], shows = [] } = event;
  const all: Record<string, unknown> = { ...patch };
  const whole: CallFields = call;
  for (const name of in_row) all[name] = whole[name];
  const update: Record<string, unknown> = { ...event.update };
  for (const place of shows) {
    const [name, value] = SHOWN[place] ?? ['params', 'args'];
    update[name] = all[value];
  }
  const kept = patch.phase === undefined ? {} : { phase: patch.phase };
  return {
    version,
    type,
    at,
    actor,
    ...given({ via }),
    patch: kept,
    published: { attempt, update },
  };
}
