import type { Call } from '#lib/call/call';
import type { CallEventEntry, PublishedEvent } from '#lib/call/call-event';
import type { CallStatus } from '#lib/protocol/call-status';
import type { StoredModelTurn } from '#lib/protocol/model-turn';
import type { Message, RunSummary } from '#lib/protocol/run';
import type {
  AuditEntry,
  AuditPage,
  AuditQuery,
  ClientRecord,
  Deliveries,
  DeliveryRecord,
  IdempotencyEntry,
  KeptEntry,
  MemoryRecord,
  SessionRecord,
  TokenRecord,
} from './records.ts';

export type * from './records.ts';

export interface CallQuery {
  readonly runId?: string;
  readonly status?: CallStatus;
  readonly tool?: string;
  /** Its id, or its name: then the calls of all clients that have the name, or had it last. */
  readonly client?: string;
  /** Only calls of the runs of this token's holder are listed. */
  readonly ownerToken?: string;
  /** Words to find in arguments, results and errors. */
  readonly text?: string;
  readonly cursor?: string;
  /** 1 to 200. */
  readonly limit: number;
  /** Asked of each call in order; at the first that it does not take the page ends. */
  takes?(call: Call): boolean;
}

export interface RunQuery {
  /** Only runs that the holder of this token started are listed. */
  readonly ownerToken?: string;
  readonly cursor?: string;
  /** 1 to 200. */
  readonly limit: number;
}

export interface MessagesQuery {
  readonly runId: string;
  /** Only those at lower positions. */
  readonly before?: number;
  /** A page has at most so much text in all: the newest may have more by itself. */
  readonly maxChars: number;
}

export interface MessagesPage {
  /** In order of position; at most 2,000. */
  readonly messages: Message[];
  /** Position of the first; 0 when there are none before it. */
  readonly from: number;
  /** Position after the last. */
  readonly to: number;
  /** How many messages of people there are before it. */
  readonly askedBefore: number;
}

/** Requests to models of one run, in their order. */
export interface ModelTurnQuery {
  readonly runId: string;
  /** Only the turns are listed that this message was the answer to. */
  readonly messageId?: string;
  /** Only the turns are listed that had a result of this call, new or in another form. */
  readonly toolCallId?: string;
  /** Numbers above this one; 0 is the beginning. */
  readonly after: number;
  /** 1 to 200. */
  readonly limit: number;
}

export interface ModelTurnPage {
  readonly turns: StoredModelTurn[];
  /** The `after` of the next page; null on the last one. */
  readonly nextAfter: number | null;
}

/** Sizes of an owner's notes, and of all. */
export interface MemorySizes {
  readonly count: number;
  readonly bytes: number;
  readonly allBytes: number;
  /** Bytes of the note with the key; null when there is none. */
  readonly replacedBytes: number | null;
}

export interface Memories {
  /**
   * The notes that fit best come first, by any of the words; without words the newest. Throws
   * `BadSearchError`, `StoreBusyError`.
   */
  find(query: { ownerToken: string | null; text?: string; limit: number }): Promise<MemoryRecord[]>;
  sizes(ownerToken: string | null, key: string): Promise<MemorySizes>;
}

/** One thing to make durable. A write is all of its changes or none. */
export type Change =
  /**
   * One more event of a call: `call` is the state after it. Its version is one more than what is
   * stored, which is 0 for a call that is not there; else the write rejects with `VersionConflictError`.
   */
  | { readonly type: 'append_call'; readonly call: Call; readonly event: CallEventEntry }
  | { readonly type: 'put_idempotency'; readonly entry: IdempotencyEntry }
  | { readonly type: 'put_run'; readonly run: RunSummary }
  /** `replay`: JSON that belongs to the message and is read by `getReplays` alone. */
  | {
      readonly type: 'put_message';
      readonly message: Message;
      readonly position: number;
      readonly replay?: unknown;
    }
  /** By its run and number. */
  | { readonly type: 'put_model_turn'; readonly turn: StoredModelTurn }
  | { readonly type: 'put_client'; readonly client: ClientRecord }
  | { readonly type: 'put_session'; readonly session: SessionRecord }
  /** Only where it is there: a session that was deleted meanwhile does not come back. */
  | { readonly type: 'renew_session'; readonly session: SessionRecord }
  | { readonly type: 'delete_session'; readonly idHash: string }
  /** In the place of one with the same id. */
  | { readonly type: 'put_token'; readonly token: TokenRecord }
  /** The notes of its holder go with it. */
  | { readonly type: 'delete_token'; readonly id: string }
  | { readonly type: 'delete_sessions_of'; readonly tokenId: string }
  | { readonly type: 'append_audit'; readonly entry: AuditEntry }
  /** The oldest of those from before, 500 at most; never the newest of all. */
  | { readonly type: 'delete_audit'; readonly before: number }
  /** In the place of one with the same area and key. */
  | { readonly type: 'put_kept'; readonly entry: KeptEntry }
  | { readonly type: 'delete_kept'; readonly area: KeptEntry['area']; readonly key: string }
  /** In the place of one with the same id. */
  | { readonly type: 'put_delivery'; readonly delivery: DeliveryRecord }
  /** Deletes those that ended before, and of the others all but the `most` that ended last: 500 at most of each. */
  | { readonly type: 'delete_deliveries'; readonly endedBefore: number; readonly most: number }
  /** In the place of one with the same owner and key. */
  | { readonly type: 'put_memory'; readonly memory: MemoryRecord }
  | { readonly type: 'delete_memory'; readonly ownerToken: string | null; readonly key: string }
  /** Deletes all that belongs to them, too; the last of them ended at `endedAt`. A call that is open stays. */
  | { readonly type: 'delete_calls'; readonly ids: readonly string[]; readonly endedAt: number }
  /** Its messages go with it; it stays if it runs, has calls, or was changed at `changedBefore` or later. */
  | { readonly type: 'delete_run'; readonly runId: string; readonly changedBefore: number };

/** Tokens that the answers of one model took; null counts as none. */
export interface StoredTokens {
  readonly model: string;
  readonly requests: number;
  /** So many of them have no count of input or output. */
  readonly uncounted: number;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly reasoning: number;
}

/** A final call as retention looks at it. Times in milliseconds since the epoch. */
export interface EndedCall {
  readonly id: string;
  readonly endedAt: number;
  /** About how many bytes of values go with it. */
  readonly bytes: number;
}

/** The statistics need this of an ended call; its values are not read. */
export interface EndedUse {
  readonly id: string;
  readonly toolName: string;
  readonly clientId: string | null;
  readonly status: CallStatus;
  readonly startedAt: number | null;
  readonly endedAt: number;
  readonly code: string | null;
  /** The tool's own word for the kind of error. */
  readonly clientCode: string | null;
  /** At most 300 characters. */
  readonly message: string | null;
}

export interface ToolUse {
  /** Ended calls, the newest first, of all or of one token's holder. Throws `StoreBusyError`. */
  recent(query: { ownerToken?: string; limit: number }): Promise<EndedUse[]>;
}

/** A run that has no turn. */
export interface IdleRun {
  readonly runId: string;
  readonly changedAt: number;
}

/** Retention sees what is kept by this, to delete the oldest of it (rules ST61 to ST66). */
export interface History {
  /**
   * `usedBytes`: of the database, what holds something; `freeBytes`: what later writes take before
   * the file grows; `logBytes`: of its log, which is begun anew again and again.
   */
  size(): Promise<{ usedBytes: number; freeBytes: number; logBytes: number }>;
  /** Counts all calls: some 50 ms for a million of them. */
  countCalls(): Promise<number>;
  /** Final calls, those that ended first. At most 200. */
  oldestCalls(query: { endedBefore: number; limit: number }): Promise<EndedCall[]>;
  /**
   * Runs that were last changed before, oldest first, without calls and turn; behind
   * the run `after` of the page before. Of `limit` runs that are looked at, those
   * that fit; `next` is null behind the last one.
   */
  emptyRuns(query: {
    changedBefore: number;
    after: IdleRun | null;
    limit: number;
  }): Promise<{ runs: IdleRun[]; next: IdleRun | null }>;
  /** `userIds` are those of calls or messages. */
  blobsOf(userIds: readonly string[]): Promise<string[]>;
  /** Gives those that nothing refers to; undefined as long as it cannot be said. */
  unusedBlobs(blobIds: readonly string[]): Promise<string[] | undefined>;
  /** Says whether a call, or a message, of the runs of this token's holder names the blob. */
  isBlobOf(ownerToken: string, blobId: string): Promise<boolean>;
  /** Says whether `delete_audit` would delete any. */
  hasAuditBefore(before: number): Promise<boolean>;
  /** The end of the newest call that was deleted; 0 when none was. */
  deletedUpTo(): number;
}

export interface WriteOptions {
  /** It is made with the next write, or after 5 ms: for what is awaited by none. */
  readonly mayWait?: boolean;
}

/**
 * The durable record. `write` resolves once the changes are on disk (fsynced),
 * in the order in which writes were asked for; writes of one moment share one
 * fsync. It does not know what a change means.
 *
 * A write that fails rejects, and every write after it rejects too with
 * `StoreFailedError`: what is on disk is then unknown, and pretending would
 * break the promise of an acknowledgement.
 */
export interface Store {
  write(changes: readonly Change[], options?: WriteOptions): Promise<void>;
  /** True once a write has failed; the server then answers 503. */
  readonly failed: boolean;

  getCall(id: string): Promise<Call | undefined>;
  /** Gives the size of its large values as JSON, without reading them; 0 when there is no such call. */
  callBytes(id: string): Promise<number>;
  /**
   * Gives what happened to a call, in order: its events of versions above `after`, at
   * most `limit` of them (1 to 200). Throws `RowDamagedError`, `StoreBusyError`.
   */
  callEvents(
    id: string,
    query: { readonly after: number; readonly limit: number },
  ): Promise<PublishedEvent[]>;
  /**
   * Newest first, by the order in which calls were first written. A page may hold fewer calls than asked for, or none: `nextCursor` is null on
   * the last one. Throws `BadCursorError`, `BadSearchError`, `StoreBusyError`.
   */
  listCalls(query: CallQuery): Promise<{ calls: Call[]; nextCursor: string | null }>;
  /** Every call that is not final, oldest first: what a start has to take up again. */
  openCalls(): Promise<Call[]>;

  getIdempotency(scope: string): Promise<IdempotencyEntry | undefined>;

  getRun(id: string): Promise<RunSummary | undefined>;
  /** Newest first by `updated_at`, without those of sub-agents. */
  listRuns(query: RunQuery): Promise<{
    runs: RunSummary[];
    nextCursor: string | null;
  }>;
  /** The newest ones of a run, or those before a place. */
  listMessages(query: MessagesQuery): Promise<MessagesPage>;
  /** Sums over the requests of a run that were answered, by model. */
  runTokens(runId: string): Promise<StoredTokens[]>;
  /** The same of its sub-agents, and of those below them. */
  tokensBelow(runId: string): Promise<StoredTokens[]>;
  /** Gives what was put with messages of a run, by message: of the newest 200 that have any. */
  getReplays(runId: string): Promise<ReadonlyMap<string, unknown>>;

  /** Throws `RowDamagedError`, `StoreBusyError`. */
  listModelTurns(query: ModelTurnQuery): Promise<ModelTurnPage>;

  /** By its client id and the hash of its resume token; both must fit. */
  findClient(clientId: string, resumeTokenHash: string): Promise<ClientRecord | undefined>;
  /** Gives the owner of any of its instances; undefined when none is remembered. */
  clientOwner(clientId: string): Promise<string | null | undefined>;
  /** By the first half of its `idHash`. */
  findSession(cookieHash: string): Promise<SessionRecord | undefined>;

  /** Revoked ones too. Their owner bounds how many there are. */
  listTokens(): Promise<TokenRecord[]>;

  /** Newest first. */
  listAudit(query: AuditQuery): Promise<AuditPage>;

  /** All of an area, in the order in which they were put. */
  listKept(area: KeptEntry['area']): Promise<KeptEntry[]>;

  /** Gives the runs that have a turn, oldest first. */
  runningRuns(): Promise<RunSummary[]>;

  readonly history: History;
  readonly memories: Memories;
  readonly deliveries: Deliveries;
  readonly toolUse: ToolUse;

  /**
   * Reserves the next `count` event numbers for this process, durably, and
   * returns the first: numbers rise over restarts without a write per event.
   */
  reserveSeqs(count: number): Promise<number>;

  close(): Promise<void>;
}
