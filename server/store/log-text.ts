import type { CallEventEntry } from '#lib/call/call-event';
import { jsonText } from '#lib/json/json-text';
import { wholeRow } from './row-checksum.ts';
import type { LogRow } from './tables.ts';

/** An event as JSON has it. */
type StoredEvent = CallEventEntry & {
  /** The patch takes these away again, which JSON cannot say. */
  readonly unset?: readonly string[];
  /** A part of the patch, beside it: its text was made before, and may be long. */
  readonly result?: unknown;
};

/** The text of an event in the log. */
export function toLogText(event: CallEventEntry): string {
  const { version, type, at, actor, via, card, published } = event;
  let { patch, shown } = event;
  let unset: string[] | undefined;
  for (const name in patch) {
    if (patch[name as keyof typeof patch] === undefined) unset = [...(unset ?? []), name];
  }
  const { result } = patch;
  if (result !== undefined) patch = { ...patch, result: undefined };
  if (shown && isEmpty(shown)) shown = undefined;
  const text = JSON.stringify({
    version,
    type,
    at,
    actor,
    via,
    patch,
    shown,
    card,
    published,
    unset,
  });
  return result === undefined ? text : `${text.slice(0, -1)},"result":${jsonText(result)}}`;
}

function isEmpty(values: object): boolean {
  for (const _ in values) return false;
  return true;
}

/** The events of a row, in their order. Throws `RowDamagedError`. */
export const fromLogRow = (row: LogRow): CallEventEntry[] =>
  fromLogTexts(wholeRow('log', row).events);

export const fromLogTexts = (text: string): CallEventEntry[] =>
  (JSON.parse(text) as StoredEvent[]).map(fromStored); // The edge to SQL.

function fromStored(stored: StoredEvent): CallEventEntry {
  if (stored.result === undefined && stored.unset === undefined) return stored;
  const { unset = [], result, ...event } = stored;
  const patch: Record<string, unknown> = { ...event.patch };
  if (result !== undefined) patch.result = result;
  for (const name of unset) patch[name] = undefined;
  return { ...event, patch };
}
