import type { Call } from '#lib/call/call';
import type { CallEventEntry, CallPatch, PublishedEvent } from '#lib/call/call-event';
import { sameJson } from '#lib/json/equal';
import type { CardUpdate } from '#lib/protocol/card';
import { given } from '#lib/util/given';

/** An event as `call_events` has it. */
type OlderEvent = Omit<PublishedEvent, 'published' | 'card' | 'shown'> & {
  /** What the patch takes away again, which JSON cannot say. */
  readonly unset?: readonly string[];
  /** What the patch has of the row of its call. */
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

/** What may be large in a patch. */
const LARGE = [
  ...(['args', 'result', 'display', 'preview', 'lateResult', 'error', 'attachments'] as const),
  ...(['annotations', 'routing'] as const),
];

/**
 * The events of a row of `call_events`. What people were shown of them is told, and a patch leaves
 * out what the call has as it is: the event that imports it has that.
 */
export const readOlderEvents = (text: string, call: Call): CallEventEntry[] =>
  (JSON.parse(text) as OlderEvent[]).map((event) => toEntry(event, call));

function toEntry(event: OlderEvent, call: Call): CallEventEntry {
  const { version, type, at, actor, via, attempt, unset = [], in_row = [], shows = [] } = event;
  const patch: Record<string, unknown> = { ...event.patch };
  for (const name of unset) patch[name] = undefined;
  for (const name of in_row) patch[name] = call[name];
  const update: Record<string, unknown> = { ...event.update };
  for (const place of shows) {
    const [name, value] = SHOWN[place] ?? ['params', 'args'];
    update[name] = patch[value];
  }
  for (const name of LARGE)
    if (name in patch && sameJson(patch[name], call[name])) delete patch[name];
  return { version, type, at, actor, ...given({ via }), patch, published: { attempt, update } };
}
