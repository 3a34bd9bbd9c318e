import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '#lib/call/call';
import type { CallEventEntry, PublishedEvent } from '#lib/call/call-event';
import { foldEvents, toPublished } from '#lib/call/fold';
import { headOf, type KnownCall, NOT_THERE } from './call-overlay.ts';
import { firstRows, type ReadRows } from './first-rows.ts';
import { fromLogRow } from './log-text.ts';
import { pageSize } from './page-cursor.ts';
import type { ReadThread } from './read-thread.ts';
import type { LogRow } from './tables.ts';

/** So much of the log is read and folded before others have their turn: some hundred events. */
const TURN_CHARS = 128 * 1024;

/** A call as the log has it. */
interface FoldedCall {
  /** Undefined for one that is not there, or was deleted meanwhile. */
  readonly call: Call | undefined;
  /** The bytes of its rows. */
  readonly chars: number;
}

export type LogReader = ReturnType<typeof createLogReader>;

/**
 * Reads the log of a call or of many, in pages that are folded in turns: a call of thousands of
 * events stops nobody. All of it throws `RowDamagedError` at a row that is damaged.
 */
export function createLogReader(database: DatabaseSync, reader: Pick<ReadThread, 'rows'>) {
  const above = database.prepare(
    'SELECT * FROM log WHERE call_id = ? AND version > ? ORDER BY version',
  );
  // A call has the number of its first row.
  const newest = database.prepare(`SELECT *,
      (SELECT seq FROM log AS first WHERE call_id = log.call_id ORDER BY version LIMIT 1) AS callNo
    FROM log WHERE call_id = ? ORDER BY version DESC LIMIT 1`);

  async function read(id: string): Promise<FoldedCall> {
    let call: Call | undefined;
    let chars = 0;
    // The casts are the edge to SQL.
    const rowsAbove = (version: number) =>
      firstRows(above.iterate(id, version) as Iterable<unknown> as Iterable<LogRow>, TURN_CHARS);
    for await (const rows of inTurns(rowsAbove)) {
      if (rows.length === 0) return { call: undefined, chars };
      call = foldEvents(rows.flatMap(fromLogRow), call);
      chars += charsOf(rows);
    }
    return { call, chars };
  }

  return {
    /** All of a call, without a turn where its log is short. */
    call: async (id: string): Promise<Call | undefined> => (await read(id)).call,

    /** Calls in this order. */
    async *calls(ids: readonly string[]): AsyncGenerator<FoldedCall> {
      for (let place = 0; place < ids.length; ) {
        const wanted = ids.slice(place);
        const { rows, isCut } = await reader.rows(logOf(wanted), TURN_CHARS);
        const ofCall = Map.groupBy(rows, ({ call_id }) => call_id);
        // The last call of a page that is cut may have more.
        const cut = isCut ? wanted.indexOf(rows.at(-1)?.call_id ?? '') : wanted.length;
        for (const id of wanted.slice(0, cut)) {
          const own = ofCall.get(id) ?? [];
          yield { call: foldEvents(own.flatMap(fromLogRow)), chars: charsOf(own) };
        }
        const [first] = wanted;
        if (cut === 0 && first !== undefined) yield read(first);
        place += Math.max(cut, 1);
      }
    },

    /** Reads what happened to a call, above a version. */
    async events(
      id: string,
      { after, limit }: { readonly after: number; readonly limit: number },
    ): Promise<PublishedEvent[]> {
      const take = pageSize(limit);
      const entries: CallEventEntry[] = [];
      let before: Call | undefined;
      const rowsAbove = (version: number) =>
        reader.rows(eventsQuery(id, { above: version, after, upTo: after + take }), TURN_CHARS);
      for await (const rows of inTurns(rowsAbove)) {
        if (rows.length === 0) return [];
        for (const entry of rows.flatMap(fromLogRow)) {
          if (entry.version > after) entries.push(entry);
          else before = foldEvents([entry], before);
        }
      }
      return toPublished(entries.slice(0, take), before);
    },

    /** Looks up a call that is appended to in the log; nothing of it is folded. */
    known(id: string): KnownCall {
      const row = newest.get(id) as unknown as (LogRow & { callNo: number }) | undefined;
      if (!row) return NOT_THERE;
      const { version } = fromLogRow(row).at(-1) ?? row;
      return { version, callNo: row.callNo, seq: row.seq };
    },
  };
}

/** Page by page. One without rows: the call is not there, or was deleted between two of them. */
async function* inTurns(
  rowsAbove: (version: number) => ReadRows<LogRow> | Promise<ReadRows<LogRow>>,
): AsyncGenerator<LogRow[]> {
  let page = await rowsAbove(0);
  yield page.rows;
  for (let last = page.rows.at(-1); last && page.isCut; last = page.rows.at(-1)) {
    await nextTurn();
    page = await rowsAbove(last.version);
    yield page.rows;
  }
}

/** Rows of these calls, in their order, each call's in its own. */
const logOf = (ids: readonly string[]): RawBuilder<LogRow> => sql`
  select log.* from json_each(${JSON.stringify(ids)}) as wanted
  cross join log on log.call_id = wanted.value`;

/**
 * The rows of these events, and of those before them what the call is made of: what its tool only
 * showed of its work leaves no trace in what follows, but for a preview and the names of arguments.
 */
const eventsQuery = (
  id: string,
  { above, after, upTo }: Readonly<Record<'above' | 'after' | 'upTo', number>>,
): RawBuilder<LogRow> => sql`
  select * from log where call_id = ${id} and version > ${above} and version <= ${upTo} and (
    version >= (select max(version) from log where call_id = ${id} and version <= ${after})
    or version > ${after}
    or exists (select 1 from json_each(events) as event where event.value ->> 'type' <> 'status'
      or event.value ->> 'patch' <> '{}' or event.value -> 'unset' is not null
      or event.value -> 'shown' -> 'argument_names' is not null)
  ) order by version`;

const charsOf = (rows: readonly LogRow[]): number =>
  rows.reduce((sum, { events }) => sum + events.length, 0);

/** The rows of one call, all of them at once: where nothing is served meanwhile. */
export function createLogReads(database: DatabaseSync): (id: string) => LogRow[] {
  const rows = database.prepare('SELECT * FROM log WHERE call_id = ? ORDER BY version');
  return (id) => rows.all(id) as unknown as LogRow[]; // The edge to SQL.
}

/** At a start, what the log has of the calls that are open. */
export function* readOpen(database: DatabaseSync): Generator<KnownCall> {
  const readLog = createLogReads(database);
  for (const { call_id } of database.prepare('SELECT call_id FROM open_calls').all()) {
    const rows = readLog(String(call_id));
    const call = foldEvents(rows.flatMap(fromLogRow));
    const callNo = rows[0]?.seq ?? 0;
    const seq = rows.at(-1)?.seq ?? 0;
    if (call) yield { version: call.version, callNo, seq, head: headOf(call, callNo) };
  }
}
