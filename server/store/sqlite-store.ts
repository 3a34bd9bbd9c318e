import type { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import type { Call } from '#lib/call/call';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { createLogApplier } from './apply-log.ts';
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
import type {
  AuditQuery,
  CallQuery,
  Change,
  KeptEntry,
  MessagesQuery,
  ModelTurnQuery,
  RunQuery,
  WriteOptions,
} from './store.ts';
import { RowDamagedError, StoreBusyError, StoreDamagedError } from './store-errors.ts';
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
 * The durable record in one SQLite file (rules ST1 to ST21). `write` resolves once the changes are
 * on disk (fsynced), in the order in which writes were asked for; writes of one moment share one
 * fsync. It does not know what a change means. Reads see what is committed.
 *
 * A write that fails rejects, and every write after it rejects too with
 * `StoreFailedError`: what is on disk is then unknown, and pretending would
 * break the promise of an acknowledgement.
 */
export type Store = ReturnType<typeof createSqliteStore>;

/**
 * Opening it checks the file and brings it to the newest schema; it throws `StoreDamagedError` or
 * `StoreTooNewError`, whose messages are for the operator.
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
}) {
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
    async write(changes: readonly Change[], options?: WriteOptions) {
      if (queue.refusal) throw queue.refusal;
      const prepared = writer.prepare(changes);
      await queue.push(prepared, options?.mayWait);
      prepared.calls.settle();
    },
    /** True once a write has failed; the server then answers 503. */
    get failed() {
      return queue.failed;
    },

    getCall: log.call,
    /** Gives the size of its large values as JSON, without reading them; 0 when there is no such call. */
    callBytes: async (id: string) => read.callBytes(id)?.bytes ?? 0,
    /**
     * Gives what happened to a call, in order: its events of versions above `after`, at
     * most `limit` of them (1 to 200). Throws `RowDamagedError`, `StoreBusyError`.
     */
    callEvents: log.events,
    /**
     * Newest first, by the order in which calls were first written. A page may hold fewer calls
     * than asked for, or none: `nextCursor` is null on the last one. Throws `BadCursorError`,
     * `BadSearchError`, `StoreBusyError`.
     */
    async listCalls(query: CallQuery) {
      if (query.text !== undefined && wordsToFind(query.text) !== null) await catchUp();
      return queryCalls(reader, log, overlay, query);
    },
    /** Every call that is not final, oldest first: what a start has to take up again. */
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
    /** Newest first by `updated_at`, without those of sub-agents. */
    listRuns: (query: RunQuery) => queryRuns(reader, query),
    /** Gives the runs that have a turn, oldest first. */
    runningRuns: async () => (await reader.rows(runningRunsQuery)).rows.map(runRows.from),
    /** The newest ones of a run, or those before a place. */
    listMessages: (query: MessagesQuery) => queryMessages(reader, query),
    /** Sums over the requests of a run that were answered, by model. */
    runTokens: (runId: string) => queryUsedTokens(reader, sql`(${runId})`),
    /** The same of its sub-agents, and of those below them. */
    tokensBelow: (runId: string) => queryUsedTokens(reader, runsBelow(runId)),
    /** Gives what was put with messages of a run, by message: of the newest 200 that have any. */
    getReplays: (runId: string) => queryReplays(reader, runId),
    /** Throws `RowDamagedError`, `StoreBusyError`. */
    listModelTurns: (query: ModelTurnQuery) => queryModelTurns(reader, query),

    /** By its client id and the hash of its resume token; both must fit. */
    findClient: read.findClient,
    /** Gives the owner of any of its instances; undefined when none is remembered. */
    clientOwner: async (clientId: string) => read.clientOwner(clientId)?.owner,
    // By the first half of its `idHash`, up to the character behind `:`, so that the index finds it.
    findSession: (cookieHash: string) => read.findSession(`${cookieHash}:`, `${cookieHash};`),

    /** Revoked ones too. Their owner bounds how many there are. */
    listTokens: read.listTokens,
    /** Newest first. */
    listAudit: (query: AuditQuery) => queryAudit(reader, query),
    /** All of an area, in the order in which they were put. */
    listKept: (area: KeptEntry['area']) => read.listKept(area),
    memories: createMemories(reader),
    deliveries: createDeliveryReads(reader),
    toolUse: createToolUse(reader, catchUp),
    history: createHistory({ file, database, reader, overlay, catchUp }),

    /**
     * Reserves the next `count` event numbers for this process, durably, and
     * returns the first: numbers rise over restarts without a write per event.
     */
    async reserveSeqs(count: number) {
      if (queue.refusal) throw queue.refusal;
      try {
        return read.reserveSeqs(count);
      } catch (error) {
        throw queue.fail(error);
      }
    },

    close(): Promise<void> {
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

/**
 * When the rows and words of ended calls are made from the log, for lists and the search. Words
 * are several times dearer than the call itself, so they are not written with it: they follow
 * within a moment, under load too, or at the latest before a search. An open call is not found by
 * its words.
 */
export function createProjection(deps: {
  /** Applies some of what waits; whether there is more. */
  applySome(): Promise<boolean>;
  /** Calls back a moment later, so that many calls are applied together; returns its undo. */
  scheduleIndexing(work: () => void): () => void;
}) {
  let closed = false;
  let cancel: (() => void) | undefined;

  /**
   * Applies what waits, in small steps between which calls are written. Rejects with
   * `StoreBusyError` when there is more than fits into `limitMs`.
   */
  async function catchUp(limitMs: number): Promise<void> {
    const end = performance.now() + limitMs;
    while (!closed && (await deps.applySome())) {
      if (performance.now() < end) continue;
      touched(); // It goes on, without anyone waiting for it.
      throw new StoreBusyError('the words of many calls are still being indexed');
    }
  }

  /** Something was written: there may be more to apply. */
  function touched(): void {
    if (closed || cancel) return;
    cancel = deps.scheduleIndexing(() => {
      cancel = undefined;
      // A search does the same work, and its caller gets the error.
      catchUp(Number.POSITIVE_INFINITY).catch(() => {});
    });
  }

  return {
    catchUp,
    touched,
    close() {
      closed = true;
      cancel?.();
    },
  };
}
