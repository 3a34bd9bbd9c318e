import type { Call } from '#lib/call/call';
import type { CallEventEntry } from '#lib/call/call-event';
import type { CallStatus } from '#lib/protocol/call-status';
import type { StoredModelTurn } from '#lib/protocol/model-turn';
import type { Message, RunSummary } from '#lib/protocol/run';
import type {
  AuditEntry,
  ClientRecord,
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

/** A run that has no turn. */
export interface IdleRun {
  readonly runId: string;
  readonly changedAt: number;
}

export interface WriteOptions {
  /** It is made with the next write, or after 5 ms: for what is awaited by none. */
  readonly mayWait?: boolean;
}
