import { type RawBuilder, sql } from 'kysely';
import type { Call } from '#lib/call/call';
import type { RunSummary } from '#lib/protocol/run';
import type { CallHead, CallOverlay } from './call-overlay.ts';
import {
  allOf,
  type CallPage,
  callPage,
  clientIdsQuery,
  countQuery,
  type Filter,
  filtersOf,
  type ListedCall,
} from './call-page.ts';
import { CALL_PLACE, pageSize, RUN_PLACE, readCursor, writeCursor } from './page-cursor.ts';
import type { LogReader } from './read-log.ts';
import type { ReadThread } from './read-thread.ts';
import { auditRows, fromMessageRow, modelTurnRows, runRows } from './record-rows.ts';
import { wordsToFind } from './search-words.ts';
import type {
  AuditPage,
  AuditQuery,
  CallQuery,
  MessagesPage,
  MessagesQuery,
  ModelTurnPage,
  ModelTurnQuery,
  RunQuery,
  StoredTokens,
} from './store.ts';
import type { AuditRow, MessageRow, ModelTurnRow, RunRow } from './tables.ts';
import { toMatch } from './word-terms.ts';

/** Characters of rows that are read for a page of calls: the first call may have more by itself. */
const MAX_PAGE_CHARS = 16 * 1024 * 1024;
/** Messages that one page holds. */
const MAX_MESSAGES = 2_000;
/** Characters of rows for a page of model turns. */
const MAX_TURN_CHARS = 1024 * 1024;

type Reader = Pick<ReadThread, 'rows'>;

/** Newest first. Calls that the table does not have as they are come from the overlay. */
export async function queryCalls(
  reader: Reader,
  log: Pick<LogReader, 'calls'>,
  overlay: Pick<CallOverlay, 'find'>,
  query: CallQuery,
): Promise<{ calls: Call[]; nextCursor: string | null }> {
  const limit = pageSize(query.limit);
  const { cursor, text } = query;
  const below = cursor === undefined ? undefined : readCursor(cursor, CALL_PLACE)[0];
  const words = text === undefined ? null : wordsToFind(text);
  if (words?.length === 0) return { calls: [], nextCursor: null };
  const filters = filtersOf(query, await findClientIds(reader, query));
  const counts = await countFilters(reader, filters, query);
  const match = words && (await toMatch(reader, words));
  const meets = (head: CallHead) =>
    (below === undefined || head.callNo < below) && filters.every((filter) => filter.meets(head));
  // Looked at first: what is applied meanwhile is in the table, too, and counts once.
  // guard: unlisted-calls-found
  const unlisted = words ? [] : overlay.find(meets);
  const page = callPage({ limit, below }, filters, counts, match);
  const listed = (await reader.rows(page.rows)).rows;
  const end = listed.length > limit ? undefined : await endOf(reader, page);
  const found = mergeListed(listed, unlisted, end);
  const { calls, isWhole, ...read } = await readCalls(log, found.slice(0, limit), query);
  const behind = found.length > limit ? found[limit - 1]?.call_no : end;
  const last = isWhole ? behind : read.last?.call_no;
  return { calls, nextCursor: last === undefined ? null : writeCursor([last]) };
}

/** The number of the last call that was looked at, where there are more behind it that were not. */
async function endOf({ rows }: Reader, page: CallPage): Promise<number | undefined> {
  const [last, next] = page.end ? (await rows(page.end)).rows : [];
  return next && last?.call_no;
}

/** Each once, newest first, and none beyond what was looked at. */
function mergeListed(
  listed: readonly ListedCall[],
  unlisted: readonly CallHead[],
  end = 0,
): ListedCall[] {
  const known = new Set(unlisted.map(({ id }) => id));
  const others = unlisted.map(({ id, callNo }) => ({ id, call_no: callNo }));
  return [...listed.filter(({ id }) => !known.has(id)), ...others]
    .filter(({ call_no }) => call_no >= end)
    .sort((a, b) => b.call_no - a.call_no);
}

async function findClientIds({ rows }: Reader, { client }: CallQuery): Promise<string[]> {
  if (client === undefined) return [];
  const found = (await rows(clientIdsQuery(client))).rows;
  return [client, ...found.map(({ client_id }) => client_id)];
}

/** One filter needs no choice, but that a search has to find out whether it is narrow. */
async function countFilters({ rows }: Reader, filters: readonly Filter[], { text }: CallQuery) {
  if (filters.length === 0 || (filters.length === 1 && text === undefined)) return [];
  const counted = (await rows(countQuery(filters))).rows;
  return counted.toSorted((a, b) => a.place - b.place).map(({ calls }) => calls);
}

/**
 * The calls as the log has them, as long as they are taken and have room. `last` is the one after
 * which a page that is not whole ends.
 */
async function readCalls(
  log: Pick<LogReader, 'calls'>,
  found: readonly ListedCall[],
  { takes, status }: CallQuery,
) {
  const calls: Call[] = [];
  let last: ListedCall | undefined;
  let [place, room] = [0, MAX_PAGE_CHARS];
  for await (const { call, chars } of log.calls(found.map(({ id }) => id))) {
    room -= chars;
    // One alone may have more than a page.
    if (last && room < 0) return { calls, last, isWhole: false };
    if (call && takes?.(call) === false) return { calls, last, isWhole: false };
    // It may have been deleted, or have gone on, since it was looked for.
    if (call && (status === undefined || call.status === status)) calls.push(call);
    last = found[place];
    place += 1;
  }
  return { calls, last, isWhole: true };
}

/** Newest first by their last change; those of sub-agents are parts of others, and not listed. */
export async function queryRuns(
  { rows }: Reader,
  { ownerToken, cursor, ...query }: RunQuery,
): Promise<{ runs: RunSummary[]; nextCursor: string | null }> {
  const limit = pageSize(query.limit);
  const where = [sql`parent is null`];
  // The index has it so.
  if (ownerToken !== undefined)
    where.push(sql`owner is not null and owner ->> '$.token_id' = ${ownerToken}`);
  if (cursor !== undefined)
    where.push(sql`(updated_at, run_id) < (${sql.join(readCursor(cursor, RUN_PLACE))})`);
  const found = await rows(sql<RunRow>`select * from runs where ${allOf(where)}
    order by updated_at desc, run_id desc limit ${limit + 1}`);
  const last = found.rows[limit] && found.rows[limit - 1];
  return {
    runs: found.rows.slice(0, limit).map(runRows.from),
    nextCursor: last ? writeCursor([last.updated_at, last.run_id]) : null,
  };
}

export const runningRunsQuery = sql<RunRow>`
  select * from runs indexed by runs_running where status = 'running' order by updated_at, run_id`;

/** Newest first, as far as they have room; given oldest first. */
export async function queryMessages(
  reader: Reader,
  { runId, before = Number.MAX_SAFE_INTEGER, maxChars }: MessagesQuery,
): Promise<MessagesPage> {
  const query = sql<MessageRow>`select * from messages
    where run_id = ${runId} and position < ${before}
    order by position desc, created_at desc limit ${MAX_MESSAGES + 1}`;
  const read = await reader.rows(query, maxChars);
  const rows = read.rows.slice(0, MAX_MESSAGES).reverse();
  const messages = rows.map(fromMessageRow);
  const to = (rows.at(-1)?.position ?? -1) + 1;
  if (!read.isCut && read.rows.length <= MAX_MESSAGES)
    return { messages, from: 0, to, askedBefore: 0 };
  const from = rows[0]?.position ?? 0;
  const asked = sql<{ count: number }>`select count(*) as count from messages
    where run_id = ${runId} and position < ${from} and role = 'user'`;
  const counted = await reader.rows(asked);
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

/** Sums up these runs together, by model. */
export async function queryUsedTokens(
  { rows }: Reader,
  runIds: RawBuilder<unknown>,
): Promise<StoredTokens[]> {
  const total = (key: string) => sql`ifnull(sum(usage ->> ${`$.${key}`}), 0)`;
  const query = sql<StoredTokens>`select model, count(*) as requests,
      count(*) - count((usage ->> '$.input_tokens') + (usage ->> '$.output_tokens')) as uncounted,
      ${total('input_tokens')} as input, ${total('cached_tokens')} as cached,
      ${total('output_tokens')} as output, ${total('reasoning_tokens')} as reasoning
    from model_turns where run_id in ${runIds} and finish_reason is not null group by model`;
  return (await rows(query)).rows;
}

/** A turn has fewer messages. */
const MOST_REPLAYS = 200;

export async function queryReplays(
  { rows }: Reader,
  runId: string,
): Promise<ReadonlyMap<string, unknown>> {
  const query = sql<{ id: string; replay: string }>`
    select message_id as id, parts -> '$.replay' as replay from messages
    where run_id = ${runId} and parts -> '$.replay' is not null
    order by position desc limit ${MOST_REPLAYS}`;
  return new Map((await rows(query)).rows.map(({ id, replay }) => [id, JSON.parse(replay)]));
}

export async function queryModelTurns(
  { rows }: Reader,
  { runId, messageId, toolCallId, after, limit }: ModelTurnQuery,
): Promise<ModelTurnPage> {
  const take = pageSize(limit);
  const where = [sql`run_id = ${runId}`, sql`number > ${after}`];
  if (messageId !== undefined) where.push(sql`message_id = ${messageId}`);
  if (toolCallId !== undefined) {
    where.push(sql`exists (select 1 from json_each(sent)
      where json_each.value ->> 'tool_call_id' = ${toolCallId})`);
  }
  const query = sql<ModelTurnRow>`select * from model_turns where ${allOf(where)}
    order by number limit ${take + 1}`;
  const read = await rows(query, MAX_TURN_CHARS);
  const turns = read.rows.slice(0, take).map(modelTurnRows.from);
  const isMore = read.isCut || read.rows.length > take;
  return { turns, nextAfter: isMore ? (turns.at(-1)?.number ?? null) : null };
}

/** Newest first. */
export async function queryAudit(
  { rows }: Reader,
  { actor, act, before, limit }: AuditQuery,
): Promise<AuditPage> {
  const take = pageSize(limit);
  const where = [sql`true`];
  if (actor !== undefined) where.push(sql`actor = ${actor}`);
  if (act !== undefined) where.push(sql`act = ${act}`);
  if (before !== undefined) where.push(sql`seq < ${before}`);
  const query = sql<AuditRow>`select * from audit where ${allOf(where)}
    order by seq desc limit ${take + 1}`;
  const found = (await rows(query)).rows;
  const entries = found.slice(0, take).map(auditRows.from);
  return { entries, next: found.length > take ? (entries.at(-1)?.seq ?? null) : null };
}
