import type { CallEventEntry } from '#lib/call/call-event';
import type { CallRecord } from '#lib/call/call-record';
import type { Card } from '#lib/protocol/card';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { toEventText } from './event-text.ts';
import { VersionConflictError } from './store-errors.ts';

/** Of one call; beyond either, `status` events that follow each other are kept as one. */
const MAX_EVENTS = 2_000;
const MAX_CHARS = 2 * 1024 * 1024;

/** What is on disk of a call, or will be once the writes of before are. */
export interface KnownCall {
  /** As it was last put by this process. */
  readonly call?: CallRecord;
  readonly version: number;
  /** Of its events. */
  readonly chars: number;
  /** The newest event, where it has a row of its own and the next may be joined to it. */
  readonly joinable?: { readonly row: number; readonly event: CallEventEntry };
}

export const NOT_THERE: KnownCall = { version: 0, chars: 0 };

/** One row of events, as far as a write makes it: the row is called by its first version. */
export interface EventsRow {
  readonly callId: string;
  readonly row: number;
  readonly texts: readonly string[];
  /** It may have the next events, too: it is not one in which some are joined. */
  readonly mayGrow: boolean;
}

/** One write on its way: what it makes of calls, seen by nothing else before `keep`. */
export interface CallsOfWrite {
  /** Throws `VersionConflictError`. */
  append(call: CallRecord, event: CallEventEntry): void;
  /** What comes after it, and was decided on it, does not follow any more. */
  delete(id: string): void;
  /** The calls that were appended to: as they are after it, and as they were before. */
  states(): { readonly call: CallRecord; readonly before: CallRecord | undefined }[];
  /** The events that were appended. */
  readonly rows: readonly EventsRow[];
  /** The write will be made. */
  keep(): void;
  /** The write is on disk: of calls that ended nothing is kept in memory. */
  settle(): void;
}

/**
 * The calls that are open, or being written. `read` gives what the tables have of others, whose
 * ids go up to `newest`: nothing needs to be read to know that a newer one is not there.
 */
export function createKnownCalls(read: (id: string) => KnownCall, newest: string) {
  const known = new Map<string, KnownCall>();
  let newestId = newest;

  return {
    beginWrite(): CallsOfWrite {
      const made = new Map<string, KnownCall>();
      const rows: EventsRow[] = [];
      const stateOf = (id: string) =>
        made.get(id) ?? known.get(id) ?? (id > newestId ? NOT_THERE : read(id));
      return {
        rows,
        states: () =>
          [...made].flatMap(([id, { call }]) =>
            call ? [{ call, before: known.get(id)?.call }] : [],
          ),
        append(call, event) {
          const state = stateOf(call.id);
          if (event.version !== state.version + 1) {
            throw new VersionConflictError(call.id, event.version, state.version);
          }
          if (call.version !== event.version) {
            throw new TypeError(`the call ${call.id} is not of the version of its event`);
          }
          made.set(call.id, { ...addEvent(state, call, event, rows), call });
        },
        delete: (id) => void made.set(id, NOT_THERE),
        keep() {
          for (const [id, state] of made) {
            known.set(id, state);
            if (id > newestId) newestId = id;
          }
        },
        settle() {
          for (const [id, state] of made) {
            const isOver = state.call === undefined || isFinalStatus(state.call.status);
            if (isOver && known.get(id) === state) known.delete(id);
          }
        },
      };
    },
  };
}

/** Puts the event into `rows`. */
function addEvent(
  state: KnownCall,
  call: CallRecord,
  event: CallEventEntry,
  rows: EventsRow[],
): KnownCall {
  const { version } = event;
  const isJoined = isBeyond(version, state.chars) && event.type === 'status';
  const joined =
    isJoined && state.joinable ? joinEvents(state.joinable.event, event, call.card) : event;
  const row = (isJoined && state.joinable?.row) || version;
  const text = toEventText(joined, call);
  addRow(rows, { callId: call.id, row, texts: [text], mayGrow: !isJoined });
  return {
    version,
    chars: state.chars + text.length,
    ...(isJoined && { joinable: { row, event: joined } }),
  };
}

/** Into one row with the events before it, where these are of the same call, or in its place. */
export function addRow(rows: EventsRow[], next: EventsRow): void {
  const place = rows.findLastIndex(({ callId }) => callId === next.callId);
  const last = rows[place];
  if (last?.row === next.row) rows[place] = next;
  else if (last?.mayGrow && next.mayGrow)
    rows[place] = { ...last, texts: [...last.texts, ...next.texts] };
  else rows.push(next);
}

export const isBeyond = (version: number, chars: number): boolean =>
  version > MAX_EVENTS || chars > MAX_CHARS;

/**
 * One event in the place of two that follow each other: it folds to what both
 * fold to, which is `card`. What is shown of both is what the card shows of them.
 */
export function joinEvents(
  first: CallEventEntry,
  second: CallEventEntry,
  card: Card,
): CallEventEntry {
  const shown: Record<string, unknown> = card;
  const names = new Set([...Object.keys(first.update), ...Object.keys(second.update)]);
  if (card.truncated !== undefined) names.add('truncated'); // Follows from other names, too.
  return {
    ...second,
    patch: { ...first.patch, ...second.patch },
    update: Object.fromEntries([...names].map((name) => [name, shown[name]])),
  };
}
