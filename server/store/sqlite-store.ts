import type { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import type { Call } from '#lib/call/call';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { createLogApplier, createProjection } from './apply-log.ts';
import { dropOlderFile } from './before-log/older-file.ts';
import { CallOverlay } from './call-overlay.ts';
import { createChangeWriter, type PreparedWrite } from './change-writer.ts';
import { createHistory } from './history.ts';
import { migrate } from './migrate.ts';
import { MIGRATIONS } from './migrations.ts';
import { openDatabase } from './open-database.ts';
import { createLogReader, readOpen } from './read-log.ts';
import { startReadThread } from './read-thread.ts';
import { runRows } from './record-rows.ts';
import { wordsToFind } from './search-words.ts';
import type { Store } from './store.ts';
import { RowDamagedError, StoreDamagedError } from './store-errors.ts';
import { positionOf } from './store-mark.ts';
import {
  queryAudit,
  queryCalls,
  queryMessages,
  queryModelTurns,
  queryReplays,
  queryRuns,
  queryUsedTokens,
  runningRunsQuery,
  runsBelow,
} from './store-queries.ts';
import { createDeliveryReads, createMemories, createReads, createToolUse } from './store-reads.ts';
import { threadSource } from './thread-source.ts';
import { createWriteQueue } from './write-queue.ts';
import { startWriteThread } from './write-thread.ts';

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
  /** Where the code of a thread lies; in a build, elsewhere than beside this file. */
  workerPath?(name: 'read-worker' | 'write-worker'): string | URL;
  /** Connections elsewhere than on threads of their own. */
  startWriting?: typeof startWriteThread;
  startReading?: typeof startReadThread;
  /** When a group of writes is committed. Default: once this turn of the event loop is over. */
  schedule?(flush: () => void): void;
  /** Calls back a moment after something was written, for the search index; returns its undo. */
  scheduleIndexing?(work: () => void): () => void;
  /** Hears, once, what the operator should know of the file. */
  log?(note: string): void;
  /** A group of writes is on disk, after so many seconds. */
  onCommitted?(seconds: number): void;
  /** A write has failed: nothing is accepted from now on. Called once. */
  onFailed?(error: Error): void;
}): Store {
  const { file, isTrusted = false, log: note = () => {} } = options;
  const { schedule = setImmediate, scheduleIndexing = afterMoment } = options;
  const { workerPath = threadSource } = options;
  const { startWriting = startWriteThread, startReading = startReadThread } = options;
  const database = openDatabase(file, { log: note, isTrusted });
  migrate(database, MIGRATIONS, note);
  dropOlderFile(file);
  // So that the open calls are all that is not in the table of calls.
  const applySome = createLogApplier(database);
  while (applySome().more);
  const read = createReads(database);
  const reader = startReading({ file, workerPath: workerPath('read-worker') });
  const log = createLogReader(database, reader);
  const overlay = new CallOverlay({
    read: log.known,
    newest: read.newestCall()?.id ?? '',
    position: positionOf(database),
    open: wholeOpen(file, database),
  });
  const thread = startWriting({ file, workerPath: workerPath('write-worker') });
  const writer = createChangeWriter(thread, overlay);
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
    scheduleLater: (flush) => void setTimeout(flush, PUT_OFF_MS),
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

    getCall: log.call,
    callBytes: async (id) => read.callBytes(id)?.bytes ?? 0,
    callEvents: log.events,
    async listCalls(query) {
      if (query.text !== undefined && wordsToFind(query.text) !== null) await catchUp();
      return queryCalls(reader, log, overlay, query);
    },
    async openCalls() {
      const open: Call[] = [];
      for (const { id } of overlay.find(({ status }) => !isFinalStatus(status)).toReversed()) {
        const call = await log.call(id);
        if (call) open.push(call);
      }
      return open;
    },

    getIdempotency: read.getIdempotency,
    getRun: read.getRun,
    listRuns: (query) => queryRuns(reader, query),
    runningRuns: async () => (await reader.rows(runningRunsQuery)).rows.map(runRows.from),
    listMessages: (query) => queryMessages(reader, query),
    runTokens: (runId) => queryUsedTokens(reader, sql`(${runId})`),
    tokensBelow: (runId) => queryUsedTokens(reader, runsBelow(runId)),
    getReplays: (runId) => queryReplays(reader, runId),
    listModelTurns: (query) => queryModelTurns(reader, query),

    findClient: read.findClient,
    clientOwner: async (clientId) => read.clientOwner(clientId)?.owner,
    // Up to the character behind `:`, so that the index finds it.
    findSession: (cookieHash) => read.findSession(`${cookieHash}:`, `${cookieHash};`),

    listTokens: read.listTokens,
    listAudit: (query) => queryAudit(reader, query),
    listKept: read.listKept,
    memories: createMemories(reader),
    deliveries: createDeliveryReads(reader),
    toolUse: createToolUse(reader, catchUp),
    history: createHistory({ file, database, reader, overlay, catchUp }),

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
        .then(() => database.close());
      return closing;
    },
  };
}

/** The open calls, as the log has them. */
function* wholeOpen(file: string, database: DatabaseSync) {
  try {
    yield* readOpen(database);
  } catch (error) {
    if (!(error instanceof RowDamagedError)) throw error;
    throw new StoreDamagedError(file, error.message); // No start had read it yet.
  }
}

function afterMoment(work: () => void): () => void {
  const timer = setTimeout(work, INDEX_MS);
  timer.unref(); // The index can wait for the next start; it keeps no process alive.
  return () => clearTimeout(timer);
}
