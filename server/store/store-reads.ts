import type { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { POOL_SOURCE } from '#lib/protocol/tool-source';
import { statusOf } from './call-table.ts';
import type { SqlValue } from './compile-query.ts';
import { pageSize } from './page-cursor.ts';
import type { ReadThread } from './read-thread.ts';
import {
  clientRows,
  deliveryRows,
  fromMemoryRow,
  idempotencyRows,
  keptRows,
  runRows,
  sessionRows,
  tokenRows,
} from './record-rows.ts';
import { wordsToFind } from './search-words.ts';
import type { DeliveryQuery, EndedUse, MemorySizes } from './store.ts';
import type { DeliveryRow, MemoryRow, Tables } from './tables.ts';

/** Prepared statements read what is asked for one at a time and often, or at a start. */
export function createReads(database: DatabaseSync) {
  /** The first row of those that the values lead to. */
  const first = <Row>(sql: string) => {
    const statement = database.prepare(sql);
    // The casts are the edge to SQL, here and below.
    return (...values: readonly SqlValue[]) => statement.get(...values) as Row | undefined;
  };
  /** The same as the record that it holds. */
  const record = <Row, Stored>(rows: { from(row: Row): Stored }, sql: string) => {
    const find = first<Row>(sql);
    return async (...values: readonly SqlValue[]): Promise<Stored | undefined> => {
      const row = find(...values);
      return row && rows.from(row);
    };
  };
  const reserve = first<{ value: number }>(`INSERT INTO meta (key, value)
    VALUES ('next_seq', 1 + ?1) ON CONFLICT (key) DO UPDATE SET value = value + ?1 RETURNING value`);
  const tokens = database.prepare('SELECT * FROM tokens');
  const kept = database.prepare('SELECT * FROM kept WHERE area = ? ORDER BY put_at, key');
  return {
    // SQLite has the length of a text in bytes without its pages.
    callBytes: first<{ bytes: number | null }>(
      'SELECT sum(octet_length(events)) AS bytes FROM log WHERE call_id = ?',
    ),
    newestCall: first<{ id: string | null }>('SELECT max(call_id) AS id FROM log'),
    clientOwner: first<Pick<Tables['clients'], 'owner'>>(
      'SELECT owner FROM clients WHERE client_id = ?',
    ),
    getRun: record(runRows, 'SELECT * FROM runs WHERE run_id = ?'),
    getIdempotency: record(idempotencyRows, 'SELECT * FROM idempotency WHERE scope = ?'),
    findClient: record(
      clientRows,
      'SELECT * FROM clients WHERE client_id = ? AND resume_token_hash = ?',
    ),
    findSession: record(sessionRows, 'SELECT * FROM sessions WHERE id_hash >= ? AND id_hash < ?'),
    listTokens: async () => (tokens.all() as unknown as Tables['tokens'][]).map(tokenRows.from),
    listKept: async (area: string) =>
      (kept.all(area) as unknown as Tables['kept'][]).map(keptRows.from),
    /** Takes the next `count` numbers, the first of which is 1, and returns the first of them. */
    reserveSeqs(count: number): number {
      const row = reserve(count);
      if (!row) throw new Error('no event numbers were reserved');
      return row.value - count;
    },
  };
}

type Reader = Pick<ReadThread, 'rows'>;

export function createToolUse({ rows }: Reader, catchUp: () => Promise<void>) {
  return {
    /** Ended calls, the newest first, of all or of one token's holder. Throws `StoreBusyError`. */
    async recent({
      ownerToken,
      limit,
    }: {
      ownerToken?: string;
      limit: number;
    }): Promise<EndedUse[]> {
      await catchUp();
      const query = ownerToken === undefined ? ofAll(limit) : ofOwner(ownerToken, limit);
      const found = (await rows(query)).rows;
      return found.map(({ statusCode, ...use }) => ({ ...use, status: statusOf(statusCode) }));
    },
  };
}

const USE_COLUMNS = sql`id, tool_name as toolName, client_id as clientId, status as statusCode,
  started_at as startedAt, ended_at as endedAt, code, client_code as clientCode, message`;

/** Not those that asked each client (`pool`): what they asked counts, each by itself. */
const OF_TOOLS = sql`source is not ${POOL_SOURCE}`;

type EndedRow = Omit<EndedUse, 'status'> & { readonly statusCode: number };

const ofAll = (limit: number) => sql<EndedRow>`
  select ${USE_COLUMNS} from calls indexed by calls_by_end where ${OF_TOOLS}
  order by ended_at desc, call_no desc limit ${limit}`;

const ofOwner = (ownerToken: string, limit: number) => sql<EndedRow>`
  select ${USE_COLUMNS} from calls indexed by calls_by_owner
  where owner_token = ${ownerToken} and ${OF_TOOLS} order by call_no desc limit ${limit}`;

/** The outbox reads what is open at a start, and pages for people. */
export function createDeliveryReads({ rows }: Reader) {
  const read = async (query: ReturnType<typeof sql<DeliveryRow>>) =>
    (await rows(query)).rows.map(deliveryRows.from);
  return {
    /** All that are open, oldest first. Their owner bounds how many there are. */
    open: () =>
      read(sql<DeliveryRow>`select * from deliveries indexed by deliveries_open
        where ended_at is null order by id`),
    async get(id: string) {
      const [found] = await read(sql<DeliveryRow>`select * from deliveries where id = ${id}`);
      return found;
    },
    /** Newest first. */
    async list({ before, limit }: DeliveryQuery) {
      const take = pageSize(limit);
      const below = before === undefined ? sql`true` : sql`id < ${before}`;
      const found = await read(sql<DeliveryRow>`select * from deliveries where ${below}
        order by id desc limit ${take + 1}`);
      const deliveries = found.slice(0, take);
      const last = deliveries.at(-1);
      return { deliveries, next: found.length > take && last ? last.id : null };
    },
  };
}

interface MemoryQuery {
  readonly ownerToken: string | null;
  readonly text?: string;
  readonly limit: number;
}

/** Notes are read by this: the index has the words of all owners, an answer those of one. */
export function createMemories({ rows }: Reader) {
  return {
    /**
     * The notes that fit best come first, by any of the words; without words the newest. Throws
     * `BadSearchError`, `StoreBusyError`.
     */
    async find({ ownerToken, text = '', limit }: MemoryQuery) {
      const owner = ownerToken ?? '';
      const words = wordsToFind(text);
      if (words?.length === 0) return [];
      const query = words === null ? newest(owner, limit) : best(owner, words, limit);
      return (await rows(query)).rows.map(fromMemoryRow);
    },
    async sizes(ownerToken: string | null, key: string) {
      const owner = ownerToken ?? '';
      const [sizes] = (await rows(sizesQuery(owner, key))).rows;
      if (!sizes) throw new Error('the sizes of memories were not read');
      return sizes;
    },
  };
}

const COLUMNS = sql`memories.owner, memories.key, memories.text, memories.words, memories.put_at,
  memories.untrusted, memories.checksum`;

const newest = (owner: string, limit: number) => sql<MemoryRow>`
  select ${COLUMNS} from memories where owner = ${owner} order by put_at desc, key limit ${limit}`;

/** Each word is a beginning, in quotes, so that none is an operator of FTS5. */
function best(owner: string, words: readonly string[], limit: number) {
  const match = words.map((word) => `("${word.replaceAll('"', '""')}" *)`).join(' OR ');
  return sql<MemoryRow>`
    select ${COLUMNS} from memory_text cross join memories on memories.row_no = memory_text.rowid
    where memory_text match ${match} and memories.owner = ${owner}
    order by bm25(memory_text), memories.put_at desc limit ${limit}`;
}

const sizesQuery = (owner: string, key: string) => sql<MemorySizes>`
  select count(*) as count, ifnull(sum(octet_length(text)), 0) as bytes,
    (select ifnull(sum(octet_length(text)), 0) from memories) as allBytes,
    (select octet_length(text) from memories where owner = ${owner} and key = ${key}) as replacedBytes
  from memories where owner = ${owner}`;
