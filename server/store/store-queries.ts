import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Call } from '#lib/call/call';
import type { PublishedEvent } from '#lib/call/call-event';
import { foldEvents, toPublished } from '#lib/call/fold';
import type { RunSummary } from '#lib/protocol/run';
import type { CallHead, CallOverlay } from './call-overlay.ts';
import {
  type CallPage,
  type CallPlace,
  callPage,
  clientIdsQuery,
  countQuery,
  type Filter,
  filtersOf,
  type ListedCall,
} from './call-page.ts';
import { fromLogRow } from './log-text.ts';
import { readCursor, readRowCursor, writeCursor, writeRowCursor } from './page-cursor.ts';
import type { ReadThread } from './read-thread.ts';
import {
  fromAuditRow,
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
import type { LogRow, RunRow, Tables } from './tables.ts';
import { toMatch } from './word-terms.ts';

/** The most that one page holds, whatever is asked for. */
const MAX_PAGE = 200;
/** Characters of rows that are read for a page of calls: the first call may have more by itself. */
const MAX_PAGE_CHARS = 16 * 1024 * 1024;
/** Messages that one page holds. */
const MAX_MESSAGES = 2_000;
/** Characters of rows for a page of model turns. */
const MAX_TURN_CHARS = 1024 * 1024;
/** After so many characters of rows others have their turn. */
const TURN_CHARS = 256 * 1024;

type Reader = Pick<ReadThread, 'rows'>;

/** Newest first. Calls that the table does not have as they are come from the overlay. */
export async function queryCalls(
  { rows }: Reader,
  kysely: Kysely<Tables>,
  overlay: Pick<CallOverlay, 'find'>,
  given: CallQuery,
): Promise<{ calls: Call[]; nextCursor: string | null }> {
  const query = { ...given, limit: pageSize(given.limit) };
  const words = query.text === undefined ? null : wordsToFind(query.text);
  if (words?.length === 0) return { calls: [], nextCursor: null };
  const clientIds = await findClientIds({ rows }, kysely, query);
  const filters = filtersOf(query, clientIds);
  const counts = await countFilters({ rows }, kysely, filters, query);
  const match = words && (await toMatch({ rows }, kysely, words));
  // Looked at first: what is applied meanwhile is in the table, too, and counts once.
  // guard: unlisted-calls-found
  const unlisted = words ? [] : overlay.find(meetsOf(query, clientIds));
  const page = callPage(kysely, query, filters, counts, match);
  const listed = (await rows(page.rows)).rows;
  const end = listed.length > query.limit ? undefined : await endOf({ rows }, page);
  const found = mergeListed(listed, unlisted, end);
  const calls = await readCalls({ rows }, kysely, found.slice(0, query.limit), query);
  const last = calls.isWhole
    ? found.length > query.limit
      ? found[query.limit - 1]
      : end
    : calls.last;
  return { calls: calls.calls, nextCursor: last ? writeRowCursor(last.call_no) : null };
}

/** The last call that was looked at, where there are more behind it that were not. */
async function endOf({ rows }: Reader, page: CallPage): Promise<CallPlace | undefined> {
  const [last, next] = page.end ? (await rows(page.end)).rows : [];
  return next && last;
}

function meetsOf(query: CallQuery, clientIds: readonly string[]): (head: CallHead) => boolean {
  const { runId, status, tool, ownerToken, cursor } = query;
  const below = cursor === undefined ? Number.POSITIVE_INFINITY : readRowCursor(cursor);
  return (head) =>
    head.callNo < below &&
    (runId === undefined || head.runId === runId) &&
    (status === undefined || head.status === status) &&
    (tool === undefined || head.toolName === tool) &&
    (ownerToken === undefined || head.ownerToken === ownerToken) &&
    (query.client === undefined || (head.clientId !== null && clientIds.includes(head.clientId)));
}

/** Each once, newest first, and none beyond what was looked at. */
function mergeListed(
  listed: readonly ListedCall[],
  unlisted: readonly CallHead[],
  end: CallPlace | undefined,
): ListedCall[] {
  const known = new Set(unlisted.map(({ id }) => id));
  const others = unlisted.map(({ id, callNo }) => ({ id, call_no: callNo }));
  return [...listed.filter(({ id }) => !known.has(id)), ...others]
    .filter(({ call_no }) => !end || call_no >= end.call_no)
    .sort((a, b) => b.call_no - a.call_no);
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

/** Rows of these calls, in their order, each call's in its own. */
const logOf = (ids: readonly string[]) => sql<LogRow>`
  select log.* from json_each(${JSON.stringify(ids)}) as wanted
  cross join log on log.call_id = wanted.value`;

/**
 * The calls as the log has them, as long as they are taken and have room; large ones in turns with
 * the other work of the process. `last` is the one after which a page that is not whole ends.
 */
async function readCalls(
  { rows }: Reader,
  kysely: Kysely<Tables>,
  found: readonly ListedCall[],
  { takes, status }: CallQuery,
) {
  const calls: Call[] = [];
  if (found.length === 0) return { calls, isWhole: true };
  const read = await rows(logOf(found.map(({ id }) => id)).compile(kysely), MAX_PAGE_CHARS);
  const ofCall = Map.groupBy(read.rows, ({ call_id }) => call_id);
  const cutId = read.isCut ? read.rows.at(-1)?.call_id : undefined;
  let last: ListedCall | undefined;
  let chars = 0;
  for (const one of found) {
    let logged = ofCall.get(one.id) ?? [];
    if (read.isCut && (one.id === cutId || logged.length === 0)) {
      if (last) return { calls, last, isWhole: false };
      // One alone may have more than a page.
      logged = (await rows(logOf([one.id]).compile(kysely))).rows;
    }
    const call = foldEvents(logged.flatMap(fromLogRow));
    if (call && takes?.(call) === false) return { calls, last, isWhole: false };
    // It may have been deleted, or have gone on, since it was looked for.
    if (call && (status === undefined || call.status === status)) calls.push(call);
    last = one;
    for (const { events } of logged) chars += events.length;
    if (chars < TURN_CHARS) continue;
    chars = 0;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return { calls, isWhole: true };
}

/** In order, those above `after`, each as it follows from those before it. */
export async function queryEvents(
  { rows }: Reader,
  kysely: Kysely<Tables>,
  callId: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<PublishedEvent[]> {
  const take = pageSize(limit);
  // Each row has one event at least, so no more rows than this are needed.
  const query = sql<LogRow>`select * from log where call_id = ${callId}
    order by version limit ${after + take}`;
  const logged = (await rows(query.compile(kysely))).rows;
  const published = toPublished(logged.flatMap(fromLogRow));
  return published.filter(({ version }) => version > after).slice(0, take);
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

/** The runs that sub-agents of a run made, and those below them. */
export const runsBelow = (runId: string): RawBuilder<unknown> => sql`(
  WITH RECURSIVE below(id) AS (
    VALUES (${runId})
    UNION
    SELECT runs.run_id FROM below JOIN runs
      ON runs.parent IS NOT NULL AND runs.parent ->> '$.run_id' = below.id
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
