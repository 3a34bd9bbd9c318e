import type { DatabaseSync } from 'node:sqlite';
import { type Kysely, sql } from 'kysely';
import { foldEvents } from '#lib/call/fold';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { POOL_SOURCE } from '#lib/protocol/tool-source';
import { createLogApplier } from './apply-log.ts';
import { dropOlderFile } from './before-log/older-file.ts';
import { CallOverlay } from './call-overlay.ts';
import { statusOf } from './call-table.ts';
import { createChangeWriter, type PreparedWrite } from './change-writer.ts';
import type { EndedUse, ToolUse } from './ended-use.ts';
import { createHistory } from './history.ts';
import { kyselyOn } from './kysely-on.ts';
import { fromLogRow } from './log-text.ts';
import { createMemories } from './memories.ts';
import { migrate } from './migrate.ts';
import { MIGRATIONS } from './migrations.ts';
import { openDatabase } from './open-database.ts';
import { createProjection } from './projection.ts';
import { type ReadThread, startReadThread } from './read-thread.ts';
import {
  fromClientRow,
  fromDeliveryRow,
  fromIdempotencyRow,
  fromRunRow,
  fromSessionRow,
} from './record-rows.ts';
import { wordsToFind } from './search-words.ts';
import type { Deliveries, Store } from './store.ts';
import { StoreDamagedError } from './store-damaged-error.ts';
import { RowDamagedError } from './store-errors.ts';
import { positionOf } from './store-mark.ts';
import {
  queryAudit,
  queryCalls,
  queryEvents,
  queryKept,
  queryMessages,
  queryModelTurns,
  queryReplays,
  queryRunningRuns,
  queryRuns,
  queryTokens,
  queryUsedTokens,
  runsBelow,
  theRun,
} from './store-queries.ts';
import { createLogReads, createReads, readKnownCall } from './store-reads.ts';
import type { DeliveryRow, Tables } from './tables.ts';
import { threadSource } from './thread-source.ts';
import { createWriteQueue } from './write-queue.ts';
import { startWriteThread } from './write-thread.ts';

const createToolUse = (
  { rows }: Pick<ReadThread, 'rows'>,
  kysely: Kysely<Tables>,
  catchUp: () => Promise<void>,
): ToolUse => ({
  async recent({ ownerToken, limit }) {
    await catchUp();
    const query = ownerToken === undefined ? ofAll(limit) : ofOwner(ownerToken, limit);
    const found = (await rows(query.compile(kysely))).rows;
    return found.map(({ statusCode, ...use }) => ({ ...use, status: statusOf(statusCode) }));
  },
});

const COLUMNS = sql`id, tool_name as toolName, client_id as clientId, status as statusCode,
  started_at as startedAt, ended_at as endedAt, code, client_code as clientCode, message`;

/** Not those that asked each client (`pool`): what they asked counts, each by itself. */
const OF_TOOLS = sql`source is not ${POOL_SOURCE}`;

type EndedRow = Omit<EndedUse, 'status'> & { readonly statusCode: number };

const ofAll = (limit: number) => sql<EndedRow>`
  select ${COLUMNS} from calls indexed by calls_by_end where ${OF_TOOLS}
  order by ended_at desc, call_no desc limit ${limit}`;

const ofOwner = (ownerToken: string, limit: number) => sql<EndedRow>`
  select ${COLUMNS} from calls indexed by calls_by_owner
  where owner_token = ${ownerToken} and ${OF_TOOLS} order by call_no desc limit ${limit}`;

const MAX_PAGE = 200;

/** What the outbox reads: what is open at a start, and pages for people. */
function createDeliveryReads(
  { rows }: Pick<ReadThread, 'rows'>,
  kysely: Kysely<Tables>,
): Deliveries {
  const read = async (query: ReturnType<typeof sql<DeliveryRow>>) =>
    (await rows(query.compile(kysely))).rows.map(fromDeliveryRow);
  return {
    open: () =>
      read(sql<DeliveryRow>`select * from deliveries indexed by deliveries_open
        where ended_at is null order by id`),
    async get(id) {
      const [found] = await read(sql<DeliveryRow>`select * from deliveries where id = ${id}`);
      return found;
    },
    async list({ before, limit }) {
      const take = Math.min(Math.max(limit, 1), MAX_PAGE);
      const below = before === undefined ? sql`true` : sql`id < ${before}`;
      const found = await read(sql<DeliveryRow>`select * from deliveries where ${below}
        order by id desc limit ${take + 1}`);
      const deliveries = found.slice(0, take);
      const last = deliveries.at(-1);
      return { deliveries, next: found.length > take && last ? last.id : null };
    },
  };
}

const INDEX_MS = 1_000;
/** How long a write may be put off that is awaited by none. */
const PUT_OFF_MS = 5;
/** How long a search waits for words that are not indexed yet, and statistics for what has ended. */
const CATCH_UP_MS = 5_000;

/**
 * The durable record in one SQLite file (rules ST1 to ST21). Opening it checks
 * the file and brings it to the newest schema; it throws `StoreDamagedError` or
 * `StoreTooNewError`, whose messages are for the operator.
 *
 * Reads see what is committed: a write is visible once its promise resolved.
 */
export function createSqliteStore(options: {
  readonly file: string;
  /** `takeTrust` said so: the file is opened without reading all of it, and `checkLater` reads it. */
  readonly isTrusted?: boolean;
  /** Where the writing thread's code lies; in a build, elsewhere than beside this file. */
  readonly workerPath?: string | URL;
  /** The reading thread's. */
  readonly readWorkerPath?: string | URL;
  /** When a group of writes is committed. Default: once this turn of the event loop is over. */
  schedule?(flush: () => void): void;
  /** When those are committed that may wait, unless others come before. Default: after 5 ms. */
  scheduleLater?(flush: () => void): void;
  /** Calls back a moment after something was written, for the search index; returns its undo. */
  scheduleIndexing?(work: () => void): () => void;
  /** Hears, once, what the operator should know of the file. */
  log?(note: string): void;
  /** A group of writes is on disk, after so many seconds. */
  onCommitted?(seconds: number): void;
  /** A write has failed: nothing is accepted from now on. Called once. */
  onFailed?(error: Error): void;
}): Store {
  const { schedule = setImmediate, scheduleIndexing = afterMoment } = options;
  const { scheduleLater = (flush) => void setTimeout(flush, PUT_OFF_MS) } = options;
  const { isTrusted = false, log = () => {} } = options;
  const database = openDatabase(options.file, { log, isTrusted });
  migrate(database, MIGRATIONS, log);
  dropOlderFile(options.file);
  // So that the open calls are all that is not in the table of calls.
  const applySome = createLogApplier(database);
  while (applySome().more);
  const kysely = kyselyOn(database);
  const read = createReads(database, kysely);
  const readLog = createLogReads(database);
  const overlay = new CallOverlay({
    read: (id) => readKnownCall(read, readLog(id)),
    newest: read.newestCall({})?.id ?? '',
    position: positionOf(database),
    open: readOpen(options.file, database, read, readLog),
  });
  const { workerPath = threadSource('write-worker') } = options;
  const thread = startWriteThread({ file: options.file, workerPath });
  const writer = createChangeWriter(thread, kysely, overlay);
  const { readWorkerPath = threadSource('read-worker') } = options;
  const reader = startReadThread({ file: options.file, workerPath: readWorkerPath });
  const projection = createProjection({
    scheduleIndexing,
    async applySome() {
      const { upTo, more } = await thread.apply();
      overlay.applied(upTo);
      return more;
    },
  });
  const queue = createWriteQueue<PreparedWrite>({
    schedule,
    scheduleLater,
    onFailed(error) {
      projection.close(); // It writes too.
      options.onFailed?.(error);
    },
    async commit(writes) {
      const begun = performance.now();
      const { steps, position } = writer.toSteps(writes);
      await thread.commit(steps, position);
      options.onCommitted?.((performance.now() - begun) / 1_000);
      projection.touched();
    },
  });
  const catchUp = async () => {
    if (!queue.failed) await projection.catchUp(CATCH_UP_MS);
  };
  let closing: Promise<void> | undefined;

  return {
    async write(changes, options) {
      if (queue.refusal) throw queue.refusal;
      const prepared = writer.prepare(changes);
      await queue.push(prepared, options?.mayWait);
      prepared.calls.settle();
    },
    get failed() {
      return queue.failed;
    },

    getCall: async (id) => foldEvents(readLog(id).flatMap(fromLogRow)),
    callBytes: async (id) => read.callBytes({ call_id: id })?.bytes ?? 0,
    callEvents: (id, query) => queryEvents(reader, kysely, id, query),
    async listCalls(query) {
      if (query.text !== undefined && wordsToFind(query.text) !== null) await catchUp();
      return queryCalls(reader, kysely, overlay, query);
    },
    async openCalls() {
      const open = overlay.find(({ status }) => !isFinalStatus(status));
      return open
        .toReversed()
        .flatMap(({ id }) => foldEvents(readLog(id).flatMap(fromLogRow)) ?? []);
    },

    async getIdempotency(scope) {
      const row = read.idempotency({ scope });
      return row && fromIdempotencyRow(row);
    },

    async getRun(id) {
      const row = read.run({ run_id: id });
      return row && fromRunRow(row);
    },
    listRuns: (query) => queryRuns(reader, kysely, query),
    runningRuns: () => queryRunningRuns(reader, kysely),
    listMessages: (query) => queryMessages(reader, kysely, query),
    runTokens: (runId) => queryUsedTokens(reader, kysely, theRun(runId)),
    tokensBelow: (runId) => queryUsedTokens(reader, kysely, runsBelow(runId)),
    getReplays: (runId) => queryReplays(reader, kysely, runId),
    listModelTurns: (query) => queryModelTurns(reader, kysely, query),

    async findClient(clientId, resumeTokenHash) {
      const row = read.client({ client_id: clientId, resume_token_hash: resumeTokenHash });
      return row && fromClientRow(row);
    },
    clientOwner: async (clientId) => read.anyInstance({ client_id: clientId })?.owner,
    hasClient: async (clientId) => read.anyInstance({ client_id: clientId }) !== undefined,
    async findSession(cookieHash) {
      // Up to the character behind `:`, so that the index finds it.
      const row = read.session({ from: `${cookieHash}:`, below: `${cookieHash};` });
      return row && fromSessionRow(row);
    },

    listTokens: () => queryTokens(kysely),
    listAudit: (query) => queryAudit(reader, kysely, query),
    listKept: (area) => queryKept(kysely, area),
    memories: createMemories(reader, kysely),
    deliveries: createDeliveryReads(reader, kysely),
    toolUse: createToolUse(reader, kysely, catchUp),
    history: createHistory({ file: options.file, database, kysely, reader, overlay, catchUp }),

    async reserveSeqs(count) {
      if (queue.refusal) throw queue.refusal;
      try {
        return read.reserveSeqs(count);
      } catch (error) {
        throw queue.fail(error);
      }
    },

    close() {
      if (closing) return closing;
      projection.close();
      closing = queue
        .close()
        .then(reader.close)
        .then(thread.close)
        .then(() => destroy(kysely, database));
      return closing;
    },
  };
}

/** The open calls, as the log has them. */
function* readOpen(
  file: string,
  database: DatabaseSync,
  read: ReturnType<typeof createReads>,
  readLog: ReturnType<typeof createLogReads>,
) {
  for (const { call_id } of database.prepare('SELECT call_id FROM open_calls').all()) {
    try {
      yield readKnownCall(read, readLog(String(call_id)));
    } catch (error) {
      if (!(error instanceof RowDamagedError)) throw error;
      throw new StoreDamagedError(file, error.message); // No start had read it yet.
    }
  }
}

async function destroy(kysely: ReturnType<typeof kyselyOn>, database: DatabaseSync) {
  await kysely.destroy();
  // Kysely closes only a database that it has used.
  if (database.isOpen) database.close();
}

function afterMoment(work: () => void): () => void {
  const timer = setTimeout(work, INDEX_MS);
  timer.unref(); // The index can wait for the next start; it keeps no process alive.
  return () => clearTimeout(timer);
}
