import type { CallEventEntry, CallPatch } from '#lib/call/call-event';
import type { CardUpdate } from '#lib/protocol/card';
import { hasSameEntries } from './card-columns.ts';
import { fromJsonColumn } from './json-column.ts';

/** A value that an update shows of its patch. Either may be large, so it is written once. */
const SHOWN = [
  ['params', 'args'],
  ['result', 'result'],
  ['result', 'display'],
  ['preview', 'preview'],
  ['error', 'error'],
  ['attachments', 'attachments'],
] as const satisfies readonly (readonly [keyof CardUpdate, keyof CallPatch])[];

/** An event as JSON has it. */
type StoredEvent = CallEventEntry & {
  /** What the patch takes away again, which JSON cannot say. */
  readonly unset?: readonly string[];
  /** By places in `SHOWN`, what the update has of the patch. */
  readonly shows?: readonly number[];
};

export function toEventText(event: CallEventEntry): string {
  const { patch, update } = event;
  const unset: string[] = [];
  for (const name in patch) if (patch[name as keyof CallPatch] === undefined) unset.push(name);
  const shows: number[] = [];
  for (let place = 0; place < SHOWN.length; place += 1)
    if (isShown(event, place)) shows.push(place);
  if (unset.length === 0 && shows.length === 0) return JSON.stringify(event);
  const left = Object.fromEntries(shows.map((place) => [SHOWN[place]?.[0], undefined]));
  return JSON.stringify({
    ...event,
    update: { ...update, ...left },
    ...(unset.length > 0 && { unset }),
    ...(shows.length > 0 && { shows }),
  });
}

function isShown({ patch, update }: CallEventEntry, place: number): boolean {
  const [shown, value] = SHOWN[place] ?? [];
  if (shown === undefined || value === undefined) return false;
  if (shown === 'params') {
    return !!update.params && !!patch.args && hasSameEntries(update.params, patch.args);
  }
  const is = update[shown];
  return typeof is === 'object' || typeof is === 'string'
    ? is !== null && is === patch[value]
    : false;
}

/** The events of a row, in their order. */
export const fromEventsColumn = (text: string): CallEventEntry[] =>
  fromJsonColumn<StoredEvent[]>(text).map(fromStored);

function fromStored({ unset = [], shows = [], ...event }: StoredEvent): CallEventEntry {
  if (unset.length === 0 && shows.length === 0) return event;
  const patch = { ...event.patch, ...Object.fromEntries(unset.map((name) => [name, undefined])) };
  const shown = shows.flatMap((place) => {
    const [name, value] = SHOWN[place] ?? [];
    if (name === undefined || value === undefined) return [];
    return [[name, name === 'params' ? { ...patch.args } : patch[value]]];
  });
  return { ...event, patch, update: { ...event.update, ...Object.fromEntries(shown) } };
}
