import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { CallEventEntry } from '#lib/call/call-event';
import type { CallRecord } from '#lib/call/call-record';
import type { RunSummary } from '#lib/protocol/run';
import {
  callPage,
  clientIdsQuery,
  countQuery,
  type Filter,
  filtersOf,
  type StoredCall,
} from './call-page.ts';
import { fromCallRow } from './call-row.ts';
import { needsRow, type RowValues } from './event-text.ts';
import { readCursor, writeCursor } from './page-cursor.ts';
import type { ReadThread } from './read-thread.ts';
import {
  fromAuditRow,
  fromEventsRow,
  fromKeptRow,
  fromMessageRow,
  fromModelTurnRow,
  fromRunRow,
  fromTokenRow,
} from './record-rows.ts';
import { wordsToFind } from './search-words.ts';
import type {
  AuditPage,
  AuditQuery,
  CallQuery,
  KeptEntry,
  MessagesPage,
  MessagesQuery,
  ModelTurnPage,
  ModelTurnQuery,
  RunQuery,
  StoredTokens,
  TokenRecord,
} from './store.ts';
import type { CallEventsRow, RunRow, Tables } from './tables.ts';
import { toMatch } from './word-terms.ts';

/** The most that one page holds, whatever is asked for. */
const MAX_PAGE = 200;
/** Characters of rows that are read for a page of calls: the first call may have more by itself. */
const MAX_PAGE_CHARS = 16 * 1024 * 1024;
/** Messages that one page holds. */
const MAX_MESSAGES = 2_000;
/** Characters of rows for a page of model turns. */
const MAX_TURN_CHARS = 1024 * 1024;
/** Of rows that are parsed before others have their turn. */
const TURN_CHARS = 256 * 1024;

type Reader = Pick<ReadThread, 'rows'>;

/** Newest first. */
export async function queryCalls(
  { rows }: Reader,
  kysely: Kysely<Tables>,
  given: CallQuery,
): Promise<{ calls: CallRecord[]; nextCursor: string | null }> {
  const query = { ...given, limit: pageSize(given.limit) };
  const words = query.text === undefined ? null : wordsToFind(query.text);
  if (words?.length === 0) return { calls: [], nextCursor: null };
  const filters = filtersOf(query, await findClientIds({ rows }, kysely, query));
  const counts = await countFilters({ rows }, kysely, filters, query);
  const match = words && (await toMatch({ rows }, kysely, words));
  const page = callPage(kysely, query, filters, counts, match);
  const read = await rows(page.rows, MAX_PAGE_CHARS);
  const found = read.rows.slice(0, query.limit);
  const calls = await takeCalls(found, query);
  const last = found[calls.length - 1];
  if (read.isCut || calls.length < read.rows.length) {
    return { calls, nextCursor: last ? page.cursorBehind(last) : null };
  }
  // All that fits of what was looked at: there may be calls that were not.
  const [lastLooked, next] = page.end ? (await rows(page.end)).rows : [];
  return { calls, nextCursor: lastLooked && next ? page.cursorBehind(lastLooked) : null };
}

async function findClientIds({ rows }: Reader, kysely: Kysely<Tables>, { client }: CallQuery) {
  if (client === undefined) return [];
  const found = (await rows(clientIdsQuery(client).compile(kysely))).rows;
  return [client, ...found.map(({ client_id }) => client_id)];
}

/** One filter needs no choice, but that a search has to find out whether it is narrow. */
async function countFilters(
  { rows }: Reader,
  kysely: Kysely<Tables>,
  filters: readonly Filter[],
  { text }: CallQuery,
) {
  if (filters.length === 0 || (filters.length === 1 && text === undefined)) return [];
  const counted = (await rows(countQuery(kysely, filters))).rows;
  return counted.toSorted((a, b) => a.place - b.place).map(({ calls }) => calls);
}

/** As long as they are taken; large ones in turns with the other work of the process. */
async function takeCalls(rows: readonly StoredCall[], { takes }: CallQuery) {
  const calls: CallRecord[] = [];
  let chars = 0;
  for (const row of rows) {
    const call = fromCallRow(row);
    if (takes?.(call) === false) break;
    calls.push(call);
    chars += row.args.length + row.card.length + (row.result?.length ?? 0);
    if (chars < TURN_CHARS) continue;
    chars = 0;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return calls;
}

/** Those that are not final, oldest first. */
export async function queryOpenCalls(kysely: Kysely<Tables>): Promise<CallRecord[]> {
  const { rows } = await openCallsQuery.execute(kysely);
  return rows.map(fromCallRow);
}

/** By the name of their index: the order that is asked for is that of another one, which has all calls. */
export const openCallsQuery = sql<StoredCall>`
  select * from tool_calls indexed by tool_calls_by_status
  where status in ('PENDING', 'RUNNING') order by created_at, id`;

/** In order, those above `after`. */
export async function queryEvents(
  reader: Reader,
  kysely: Kysely<Tables>,
  callId: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<CallEventEntry[]> {
  const take = pageSize(limit);
  const eventsFrom = async (row: RawBuilder<unknown>) => {
    const query = sql<CallEventsRow>`select * from call_events
      where call_id = ${callId} and version >= ${row} order by version limit ${take + 1}`;
    const read = await reader.rows(query.compile(kysely), MAX_PAGE_CHARS);
    const values = read.rows.some(({ events: text }) => needsRow(text))
      ? await rowValues(reader, kysely, callId)
      : undefined;
    const events = read.rows
      .flatMap((stored) => fromEventsRow(stored, values))
      .filter(({ version }) => version > after);
    return { events: events.slice(0, take), isCut: read.isCut };
  };
  // A row is called by its first event: the one that has the next may begin before it.
  const { events, isCut } = await eventsFrom(sql`coalesce((select max(version) from call_events
    where call_id = ${callId} and version <= ${after}), 0)`);
  // That row was large, and all of it before.
  return isCut && events.length === 0 ? (await eventsFrom(sql`${after + 1}`)).events : events;
}

/** What events refer to. A call that was deleted in between has nothing. */
async function rowValues(
  { rows }: Reader,
  kysely: Kysely<Tables>,
  id: string,
): Promise<RowValues | undefined> {
  const select = kysely.selectFrom('tool_calls').selectAll().where('id', '=', id);
  const [row] = (await rows(select.compile())).rows;
  return row && fromCallRow(row);
}

/** Newest first by their last change; those of sub-agents are parts of others, and not listed. */
export async function queryRuns(
  reader: Reader,
  kysely: Kysely<Tables>,
  query: RunQuery,
): Promise<{ runs: RunSummary[]; nextCursor: string | null }> {
  const limit = pageSize(query.limit);
  let select = kysely.selectFrom('runs').selectAll().where('parent', 'is', null);
  if (query.ownerToken !== undefined) {
    // As the index has it.
    select = select.where(
      sql<boolean>`owner is not null and owner ->> '$.token_id' = ${query.ownerToken}`,
    );
  }
  if (query.cursor !== undefined) {
    const { at, id } = readCursor(query.cursor);
    select = select.where((eb) => eb(eb.refTuple('updated_at', 'run_id'), '<', eb.tuple(at, id)));
  }
  const { rows } = await reader.rows(
    select
      .orderBy('updated_at', 'desc')
      .orderBy('run_id', 'desc')
      .limit(limit + 1)
      .compile(),
  );
  const last = rows[limit - 1];
  return {
    runs: rows.slice(0, limit).map(fromRunRow),
    nextCursor:
      last && rows.length > limit ? writeCursor({ at: last.updated_at, id: last.run_id }) : null,
  };
}

/** Those that have a turn, oldest first. */
export async function queryRunningRuns(
  reader: Reader,
  kysely: Kysely<Tables>,
): Promise<RunSummary[]> {
  const { rows } = await reader.rows(runningRunsQuery.compile(kysely));
  return rows.map(fromRunRow);
}

export const runningRunsQuery = sql<RunRow>`
  select * from runs indexed by runs_running where status = 'running' order by updated_at, run_id`;

/** Newest first, as far as they have room; given oldest first. */
export async function queryMessages(
  reader: Reader,
  kysely: Kysely<Tables>,
  { runId, before = Number.MAX_SAFE_INTEGER, maxChars }: MessagesQuery,
): Promise<MessagesPage> {
  const ofRun = kysely
    .selectFrom('messages')
    .where('run_id', '=', runId)
    .where('position', '<', before);
  const query = ofRun
    .selectAll()
    .orderBy('position', 'desc')
    .orderBy('created_at', 'desc')
    .limit(MAX_MESSAGES + 1);
  const read = await reader.rows(query.compile(), maxChars);
  const rows = read.rows.slice(0, MAX_MESSAGES).reverse();
  const messages = rows.map(fromMessageRow);
  const to = (rows.at(-1)?.position ?? -1) + 1;
  if (!read.isCut && read.rows.length <= MAX_MESSAGES)
    return { messages, from: 0, to, askedBefore: 0 };
  const from = rows[0]?.position ?? 0;
  const asked = kysely
    .selectFrom('messages')
    .where('run_id', '=', runId)
    .where('position', '<', from)
    .where('role', '=', 'user')
    .select(({ fn }) => fn.countAll<number>().as('count'));
  const counted = await reader.rows(asked.compile());
  return { messages, from, to, askedBefore: counted.rows[0]?.count ?? 0 };
}

/**
 * The runs that sub-agents of a run made, and those below them: each has its id from the call that
 * it works for.
 */
export const runsBelow = (runId: string): RawBuilder<unknown> => sql`(
  WITH RECURSIVE below(id) AS (
    VALUES (${runId})
    UNION
    SELECT runs.run_id FROM below
    JOIN tool_calls ON tool_calls.run_id = below.id
    JOIN runs ON runs.run_id = 'run_' || substr(tool_calls.id, 4)
    WHERE runs.parent ->> '$.run_id' = below.id
  )
  SELECT id FROM below WHERE id <> ${runId}
)`;

export const theRun = (runId: string): RawBuilder<unknown> => sql`(${runId})`;

/** Of these runs together, by model. */
export async function queryUsedTokens(
  reader: Reader,
  kysely: Kysely<Tables>,
  runIds: RawBuilder<unknown>,
): Promise<StoredTokens[]> {
  const total = (key: string) => sql<number>`ifnull(sum(usage ->> ${`$.${key}`}), 0)`;
  const query = kysely
    .selectFrom('model_turns')
    .select((eb) => [
      'model',
      eb.fn.countAll<number>().as('requests'),
      sql<number>`count(*) - count((usage ->> '$.input_tokens') + (usage ->> '$.output_tokens'))`.as(
        'uncounted',
      ),
      total('input_tokens').as('input'),
      total('cached_tokens').as('cached'),
      total('output_tokens').as('output'),
      total('reasoning_tokens').as('reasoning'),
    ])
    .where(sql<boolean>`run_id IN ${runIds}`)
    .where('finish_reason', 'is not', null)
    .groupBy('model');
  return (await reader.rows(query.compile())).rows;
}

/** Of more messages than a turn has. */
const MOST_REPLAYS = 200;

export async function queryReplays(
  reader: Reader,
  kysely: Kysely<Tables>,
  runId: string,
): Promise<ReadonlyMap<string, unknown>> {
  const query = kysely
    .selectFrom('messages')
    .select(['message_id', sql<string>`parts -> '$.replay'`.as('replay')])
    .where('run_id', '=', runId)
    .where(sql<boolean>`parts -> '$.replay' is not null`)
    .orderBy('position', 'desc')
    .limit(MOST_REPLAYS);
  const { rows } = await reader.rows(query.compile());
  return new Map(rows.map(({ message_id, replay }) => [message_id, JSON.parse(replay)]));
}

export async function queryModelTurns(
  reader: Reader,
  kysely: Kysely<Tables>,
  { runId, messageId, toolCallId, after, limit }: ModelTurnQuery,
): Promise<ModelTurnPage> {
  const take = pageSize(limit);
  let select = kysely
    .selectFrom('model_turns')
    .selectAll()
    .where('run_id', '=', runId)
    .where('number', '>', after);
  if (messageId !== undefined) select = select.where('message_id', '=', messageId);
  if (toolCallId !== undefined) {
    select = select.where(
      sql<boolean>`exists (select 1 from json_each(sent)
        where json_each.value ->> 'tool_call_id' = ${toolCallId})`,
    );
  }
  const read = await reader.rows(
    select
      .orderBy('number')
      .limit(take + 1)
      .compile(),
    MAX_TURN_CHARS,
  );
  const turns = read.rows.slice(0, take).map(fromModelTurnRow);
  const isMore = read.isCut || read.rows.length > take;
  return { turns, nextAfter: isMore ? (turns.at(-1)?.number ?? null) : null };
}

/** Newest first. */
export async function queryAudit(
  reader: Reader,
  kysely: Kysely<Tables>,
  { actor, act, before, limit }: AuditQuery,
): Promise<AuditPage> {
  const take = pageSize(limit);
  let select = kysely.selectFrom('audit').selectAll();
  if (actor !== undefined) select = select.where('actor', '=', actor);
  if (act !== undefined) select = select.where('act', '=', act);
  if (before !== undefined) select = select.where('seq', '<', before);
  const query = select.orderBy('seq', 'desc').limit(take + 1);
  const { rows } = await reader.rows(query.compile());
  const entries = rows.slice(0, take).map(fromAuditRow);
  return { entries, next: rows.length > take ? (entries.at(-1)?.seq ?? null) : null };
}

/** At a start, before anything else is asked. */
export async function queryTokens(kysely: Kysely<Tables>): Promise<TokenRecord[]> {
  return (await kysely.selectFrom('tokens').selectAll().execute()).map(fromTokenRow);
}

/** At a start, too. */
export async function queryKept(
  kysely: Kysely<Tables>,
  area: KeptEntry['area'],
): Promise<KeptEntry[]> {
  const rows = kysely.selectFrom('kept').selectAll().where('area', '=', area);
  return (await rows.orderBy('put_at').orderBy('key').execute()).map(fromKeptRow);
}

const pageSize = (limit: number): number => Math.min(Math.max(Math.trunc(limit), 1), MAX_PAGE);
