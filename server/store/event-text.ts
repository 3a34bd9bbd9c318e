import type { CallEventEntry, CallPatch } from '#lib/call/call-event';
import type { CallRecord } from '#lib/call/call-record';
import type { CardUpdate } from '#lib/protocol/card';
import { isFinalStatus } from '#lib/protocol/is-final-status';
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

/** What a call that has ended keeps as it is: its row has it, and the event of the end refers to it. */
const ROW_HAS = ['result', 'display'] as const;
export type RowValues = Pick<CallRecord, (typeof ROW_HAS)[number]>;

/** An event as JSON has it. */
type StoredEvent = CallEventEntry & {
  /** What the patch takes away again, which JSON cannot say. */
  readonly unset?: readonly string[];
  /** What the patch has, and the row of the call as well. */
  readonly in_row?: readonly (keyof RowValues)[];
  /** By places in `SHOWN`, what the update has of the patch. */
  readonly shows?: readonly number[];
};

/** `call`: as it is after the event, and as its row is written with it. */
export function toEventText(event: CallEventEntry, call: CallRecord): string {
  // Most events are written as they are: only what is left out costs a copy.
  let patch: Record<string, unknown> = event.patch;
  let update: Record<string, unknown> = event.update;
  let unset: string[] | undefined;
  for (const name in patch) if (patch[name] === undefined) unset = [...(unset ?? []), name];
  let shows: number[] | undefined;
  for (let place = 0; place < SHOWN.length; place += 1) {
    if (!isShown(event, place)) continue;
    shows = [...(shows ?? []), place];
    update = { ...update, [SHOWN[place]?.[0] ?? '']: undefined };
  }
  let inRow: string[] | undefined;
  for (const name of isFinalStatus(call.status) ? ROW_HAS : []) {
    if (!isIn(patch, call, name)) continue;
    inRow = [...(inRow ?? []), name];
    patch = { ...patch, [name]: undefined };
  }
  return JSON.stringify({ ...event, patch, update, unset, in_row: inRow, shows });
}

const isIn = (
  patch: Readonly<Record<string, unknown>>,
  call: CallRecord,
  name: keyof RowValues,
): boolean => patch[name] !== undefined && patch[name] === call[name];

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

/** Whether an event of the text is not whole without the row of its call. */
export const needsRow = (text: string): boolean => text.includes('"in_row":');

/** The events of a row, in their order. `row`: what the row of their call has. */
export const fromEventsColumn = (text: string, row?: RowValues): CallEventEntry[] =>
  fromJsonColumn<StoredEvent[]>(text).map((event) => fromStored(event, row));

function fromStored(
  { unset = [], in_row: inRow = [], shows = [], ...event }: StoredEvent,
  row: RowValues | undefined,
): CallEventEntry {
  if (unset.length === 0 && inRow.length === 0 && shows.length === 0) return event;
  const patch = {
    ...event.patch,
    ...Object.fromEntries(unset.map((name) => [name, undefined])),
    ...Object.fromEntries(inRow.map((name) => [name, row?.[name]])),
  };
  const shown = shows.flatMap((place) => {
    const [name, value] = SHOWN[place] ?? [];
    if (name === undefined || value === undefined) return [];
    return [[name, name === 'params' ? { ...patch.args } : patch[value]]];
  });
  return { ...event, patch, update: { ...event.update, ...Object.fromEntries(shown) } };
}
