import { type RawBuilder, sql } from 'kysely';
import type { CallHead } from './call-overlay.ts';
import { statusCode } from './call-table.ts';
import type { CallQuery } from './store.ts';

/** Calls of an index that are looked at for one page; where few of them fit, the page ends with these. */
const MAX_LOOKED_AT = 20_000;
/** A filter that has no more than these is narrow: the others are tried on its calls alone. */
const NARROW = 10_000;

export interface ListedCall {
  readonly id: string;
  /** Where it stands among all. */
  readonly call_no: number;
}

export type CallPage = ReturnType<typeof callPage>;

export interface Filter {
  /** Has the calls that fit in the order of a list. */
  readonly index: string;
  /** One for each value that fits: the calls of each are in that order. */
  readonly each: readonly Condition[];
  readonly fits: Condition;
  /** The same of a call that the table may not have. */
  meets(head: CallHead): boolean;
  /** The same of a call that is looked at, asked of the index: its row is not read. */
  readonly isInIndex: Condition;
}

type Condition = RawBuilder<unknown>;

/** An order in which calls are looked at, and which of them. */
interface Walk {
  readonly looked: Condition;
  /** Each call is tried on these. */
  readonly fits: readonly Condition[];
}

type Value = string | number;

/** `clientIds`: those that the client of the query has or had. */
export function filtersOf(query: CallQuery, clientIds: readonly string[]): Filter[] {
  const { runId, tool, ownerToken } = query;
  const status = query.status && statusCode(query.status);
  const all = [
    toFilter('calls_by_run', 'run_id', [runId], (head) => head.runId),
    toFilter('calls_by_client', 'client_id', clientIds, (head) => head.clientId),
    toFilter('calls_by_tool', 'tool_name', [tool], (head) => head.toolName),
    toFilter('calls_by_status', 'status', [status], (head) => statusCode(head.status)),
    toFilter('calls_by_owner', 'owner_token', [ownerToken], (head) => head.ownerToken),
  ];
  return all.filter(({ each }) => each.length > 0);
}

function toFilter(
  index: string,
  column: string,
  given: readonly (Value | undefined)[],
  of: (head: CallHead) => Value | null,
): Filter {
  const values = given.filter((value) => value !== undefined);
  const columnOf = (table: string) => sql.ref(`${table}.${column}`);
  return {
    index,
    each: values.map((value) => sql`${columnOf('calls')} = ${value}`),
    fits: sql`${columnOf('calls')} in (${sql.join(values)})`,
    meets: (head) => values.some((value) => value === of(head)),
    isInIndex: sql`exists (select 1 from calls as fit indexed by ${sql.raw(index)}
      where ${columnOf('fit')} in (${sql.join(values)}) and fit.call_no = walk.call_no)`,
  };
}

/** Clients of one name whose calls are looked for. */
const MAX_NAMESAKES = 64;

/**
 * The ids that a client has had: a client that is known by what is asked for, else all that have it
 * as their name, of each owner those seen last before the next one of any.
 */
export const clientIdsQuery = (asked: string): RawBuilder<{ client_id: string }> => sql`
  select client_id from (
    select client_id, max(last_seen_at) as seen_at,
      row_number() over (partition by owner order by max(last_seen_at) desc) as place
    from clients where name = ${asked}
      and not exists (select 1 from clients where client_id = ${asked})
    group by client_id, owner
  ) order by place, seen_at desc limit ${MAX_NAMESAKES}`;

/** How many calls each filter has, counted no further than to see that it is not narrow. */
export function countQuery(
  filters: readonly Filter[],
): RawBuilder<{ place: number; calls: number }> {
  const counts = filters.map(
    ({ index, fits }, place) => sql`select ${sql.lit(place)} as place, count(*) as calls from (
      select 1 from calls indexed by ${sql.raw(index)} where ${fits} limit ${NARROW + 1})`,
  );
  return sql`${sql.join(counts, sql` union all `)}`;
}

/** A page that begins behind a call, or with the newest. */
interface Asked {
  readonly limit: number;
  readonly below: number | undefined;
}

/**
 * The queries of one page. Each uses an index, and reads a bounded number of rows (rule ST42). `rows`
 * has one call more than the page, to see whether there is a next one; `end` the last call that is
 * looked at, and the one behind it, and is undefined when each call that is looked at fits.
 * `counts` is what `countQuery` gave for the filters, by their places;
 * `words` what the text of a search is to the index, null for a list.
 */
export function callPage(
  asked: Asked,
  filters: readonly Filter[],
  counts: readonly number[],
  words: string | null,
) {
  const narrowest = filters[counts.indexOf(Math.min(...counts))];
  const walk =
    words === null
      ? listWalk(asked, filters, narrowest)
      : searchWalk(asked, words, filters, Math.min(...counts) <= NARROW ? narrowest : undefined);
  // SQLite runs a cross join as it is written, so the order stays.
  const rows = sql<ListedCall>`select calls.call_no, id from (
      select call_no as page_no from (
        select call_no, ${allOf(walk.fits)} as fits ${walk.looked} limit ${MAX_LOOKED_AT}
      ) where fits limit ${asked.limit + 1}
    ) cross join calls on calls.call_no = page_no`;
  const end = sql<
    Pick<ListedCall, 'call_no'>
  >`select call_no ${walk.looked} limit 2 offset ${MAX_LOOKED_AT - 1}`;
  return { rows, end: walk.fits.length === 0 ? undefined : end };
}

/** Newest first by the index of the narrowest filter; the others are tried on each call. */
function listWalk(
  { below }: Asked,
  filters: readonly Filter[],
  narrowest: Filter | undefined = filters[0],
): Walk {
  const before = below === undefined ? [] : [sql`calls.call_no < ${below}`];
  // By its number alone, a call is where the table has it.
  const index = narrowest ? sql`indexed by ${sql.raw(narrowest.index)}` : sql`not indexed`;
  // Calls of several values are merged as each comes in the order of the index: none is sorted.
  const walks = (narrowest?.each ?? [sql`true`]).map(
    (fits) => sql`select call_no from calls ${index} where ${allOf([fits, ...before])}`,
  );
  return {
    looked: sql`from (${sql.join(walks, sql` union all `)}
      order by call_no desc limit ${MAX_LOOKED_AT + 1}) as walk`,
    fits: filters.filter((filter) => filter !== narrowest).map(({ isInIndex }) => isInIndex),
  };
}

/** In that order words come without being sorted, too: one may be in every call. */
function searchWalk(
  { below }: Asked,
  words: string,
  filters: readonly Filter[],
  narrow: Filter | undefined,
): Walk {
  // The sign before it has the list of rows looked up for each call found, not searched for each row.
  const rows = narrow && sql`from calls indexed by ${sql.raw(narrow.index)} where ${narrow.fits}`;
  const among = rows && [
    sql`+tool_call_text.rowid in (select call_no ${rows})`,
    sql`tool_call_text.rowid >= (select min(call_no) ${rows})`,
    sql`tool_call_text.rowid <= (select max(call_no) ${rows})`,
  ];
  // The index goes straight to an integer, and Node's numbers are none.
  const before = below === undefined ? [] : [sql`tool_call_text.rowid < cast(${below} as integer)`];
  const where = [sql`tool_call_text match ${words}`, ...before, ...(among ?? [])];
  return {
    looked: sql`from tool_call_text
      cross join calls on calls.call_no = tool_call_text.rowid
      where ${allOf(where)} order by tool_call_text.rowid desc`,
    fits: filters.filter((filter) => filter !== narrow).map(({ fits }) => fits),
  };
}

export const allOf = (conditions: readonly Condition[]): Condition =>
  conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
