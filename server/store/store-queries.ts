import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { Message, RunSummary } from '#lib/protocol/run';
import type { CallRecord } from './call-record.ts';
import { fromCallRow } from './call-row.ts';
import { type PageCursor, readCursor, writeCursor } from './page-cursor.ts';
import { fromMessageRow, fromRunRow } from './record-rows.ts';
import { searchQuery } from './search-words.ts';
import type { CallQuery } from './store.ts';
import type { Tables, ToolCallRow } from './tables.ts';

/** The most that one page holds, whatever is asked for. */
const MAX_PAGE = 200;

/**
 * Newest first. One row more than the page is looked for, to know whether there
 * is a next one. Rows are large, so each is read when its turn comes.
 */
export async function queryCalls(
  kysely: Kysely<Tables>,
  query: CallQuery,
  read: (id: string) => CallRecord | undefined,
) {
  const limit = pageSize(query.limit);
  let select = withFilters(kysely.selectFrom('tool_calls').select(['id', 'created_at']), query);
  if (query.cursor !== undefined) {
    const { at, id } = readCursor(query.cursor);
    select = select.where((eb) => eb(eb.refTuple('created_at', 'id'), '<', eb.tuple(at, id)));
  }
  const rows = await select
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
  const calls: CallRecord[] = [];
  let taken = 0;
  for (const { id } of rows.slice(0, limit)) {
    const call = read(id);
    if (call && query.takes?.(call) === false) break;
    if (call) calls.push(call);
    taken += 1;
  }
  return {
    calls,
    nextCursor: nextCursor(rows, taken, (row) => ({ at: row.created_at, id: row.id })),
  };
}

function withFilters(
  select: SelectQueryBuilder<Tables, 'tool_calls', Pick<ToolCallRow, 'id' | 'created_at'>>,
  { runId, status, tool, clientId, text }: CallQuery,
) {
  const words = text === undefined ? null : searchQuery(text);
  return select
    .$if(runId !== undefined, (q) => q.where('run_id', '=', runId ?? ''))
    .$if(status !== undefined, (q) => q.where('status', '=', status ?? 'PENDING'))
    .$if(tool !== undefined, (q) => q.where('tool_name', '=', tool ?? ''))
    .$if(clientId !== undefined, (q) =>
      q.where((eb) =>
        eb.or([
          eb('client_id', '=', clientId ?? ''),
          // Nobody has it yet: it still belongs to the client that it is meant for.
          eb.and([eb('client_id', 'is', null), eb('wanted_client_id', '=', clientId ?? '')]),
        ]),
      ),
    )
    .$if(words !== null, (q) =>
      q.where(
        sql<boolean>`row_no in (select rowid from tool_call_text where tool_call_text match ${words})`,
      ),
    );
}

/** Those that are not final, oldest first. */
export async function queryOpenCalls(kysely: Kysely<Tables>): Promise<CallRecord[]> {
  const rows = await kysely
    .selectFrom('tool_calls')
    .selectAll()
    // As literals, so that SQLite sees that the index of open calls will do.
    .where(sql<boolean>`status in ('PENDING', 'RUNNING')`)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(fromCallRow);
}

/** Newest first by their last change. */
export async function queryRuns(
  kysely: Kysely<Tables>,
  query: { limit: number; cursor?: string },
): Promise<{ runs: RunSummary[]; nextCursor: string | null }> {
  const limit = pageSize(query.limit);
  let select = kysely.selectFrom('runs').selectAll();
  if (query.cursor !== undefined) {
    const { at, id } = readCursor(query.cursor);
    select = select.where((eb) => eb(eb.refTuple('updated_at', 'run_id'), '<', eb.tuple(at, id)));
  }
  const rows = await select
    .orderBy('updated_at', 'desc')
    .orderBy('run_id', 'desc')
    .limit(limit + 1)
    .execute();
  return {
    runs: rows.slice(0, limit).map(fromRunRow),
    nextCursor: nextCursor(rows, limit, (row) => ({ at: row.updated_at, id: row.run_id })),
  };
}

export async function queryMessages(kysely: Kysely<Tables>, runId: string): Promise<Message[]> {
  const rows = await kysely
    .selectFrom('messages')
    .selectAll()
    .where('run_id', '=', runId)
    .orderBy('position')
    .orderBy('created_at')
    .execute();
  return rows.map(fromMessageRow);
}

const pageSize = (limit: number): number => Math.min(Math.max(Math.trunc(limit), 1), MAX_PAGE);

function nextCursor<Row>(rows: readonly Row[], limit: number, at: (row: Row) => PageCursor) {
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return last === undefined ? null : writeCursor(at(last));
}
