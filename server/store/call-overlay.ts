import type { CallEventEntry } from '#lib/call/call-event';
import type { CallRecord } from '#lib/call/call-record';
import type { CallStatus } from '#lib/protocol/call-status';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { toLogText } from './log-text.ts';
import { VersionConflictError } from './store-errors.ts';

/** What a list asks of a call, which need not be in the table of calls for that. */
export interface CallHead {
  readonly id: string;
  /** Rises in the order in which calls were first written. */
  readonly callNo: number;
  readonly runId: string;
  readonly toolName: string;
  readonly status: CallStatus;
  /** Who has it, else the only one that may take it. */
  readonly clientId: string | null;
  readonly ownerToken: string | null;
}

/** What is in the log of a call, or will be once the writes of before are. */
export interface KnownCall {
  readonly version: number;
  /** Of its first row; 0 for a call that is not there. */
  readonly callNo: number;
  readonly head?: CallHead;
  /** Of its newest row. */
  readonly seq: number;
}

export const NOT_THERE: KnownCall = { version: 0, callNo: 0, seq: 0 };

/** One row of the log, as far as a write makes it. */
export interface NewLogRow {
  readonly seq: number;
  readonly callId: string;
  /** Of its first event. */
  readonly version: number;
  readonly ends: boolean;
  readonly texts: readonly string[];
}

/** One write on its way: what it makes of calls, seen by nothing else before `keep`. */
export interface CallsOfWrite {
  /** Throws `VersionConflictError`. */
  append(call: CallRecord, event: CallEventEntry): void;
  /** False for an open call, which stays. What comes after, and was decided on it, does not follow any more. */
  delete(id: string): boolean;
  /** What was appended, a row a call. */
  readonly rows: readonly NewLogRow[];
  /** The write will be made. */
  keep(): void;
  /** The write is on disk. */
  settle(): void;
}

/**
 * The calls that the table of calls does not have as they are: open ones, and ended ones until they
 * are applied. Every reader sees them by this. `read` gives what the log has of others, whose ids
 * go up to `newest`: nothing needs to be read to know that a newer one is not there.
 */
export function createCallOverlay(options: {
  read(id: string): KnownCall;
  readonly newest: string;
  /** The last place that is taken in the log. */
  readonly position: number;
  /** Those that are open in the log. */
  readonly open: Iterable<KnownCall & { readonly head: CallHead }>;
}) {
  /** As they will be once all that is on its way is written. */
  const known = new Map<string, KnownCall>();
  /** As they are on disk. */
  const settled = new Map<string, KnownCall>();
  let { newest, position } = options;
  for (const call of options.open) {
    known.set(call.head.id, call);
    settled.set(call.head.id, call);
  }
  const stateOf = (id: string) => known.get(id) ?? (id > newest ? NOT_THERE : options.read(id));

  return {
    get position() {
      return position;
    },
    /** A place of its own for what is no event. */
    takePosition: () => ++position,

    beginWrite(): CallsOfWrite {
      const made = new Map<string, KnownCall>();
      const rows: NewLogRow[] = [];
      return {
        rows,
        append(call, event) {
          const { id, version } = call;
          const before = made.get(id) ?? stateOf(id);
          if (event.version !== before.version + 1) {
            throw new VersionConflictError(id, event.version, before.version);
          }
          if (version !== event.version) {
            throw new TypeError(`the call ${id} is not of the version of its event`);
          }
          const text = toLogText(event);
          const ends = isFinalStatus(call.status);
          const seq = ++position;
          rows.push({ seq, callId: id, version, ends, texts: [text] });
          const callNo = before.callNo || seq;
          made.set(id, { version, callNo, seq, head: headOf(call, callNo) });
        },
        delete(id) {
          const { head } = made.get(id) ?? known.get(id) ?? NOT_THERE;
          if (head && !isFinalStatus(head.status)) return false;
          made.set(id, NOT_THERE);
          return true;
        },
        keep() {
          for (const [id, state] of made) {
            known.set(id, state);
            if (id > newest) newest = id;
          }
        },
        settle() {
          for (const [id, state] of made) {
            if (state.head) settled.set(id, state);
            else settled.delete(id);
            // Nothing is known of a call that was deleted, but that others have been decided on it.
            if (!state.head && known.get(id) === state) known.delete(id);
          }
        },
      };
    },

    /** The table of calls has all that ended up to this place of the log. */
    applied(upTo: number): void {
      for (const [id, call] of settled) {
        if (call.seq > upTo || !call.head || !isFinalStatus(call.head.status)) continue;
        settled.delete(id);
        if (known.get(id) === call) known.delete(id);
      }
    },

    /** Those that meet it, the newest first. */
    find(meets: (head: CallHead) => boolean): CallHead[] {
      const found: CallHead[] = [];
      for (const { head } of settled.values()) if (head && meets(head)) found.push(head);
      return found.sort((a, b) => b.callNo - a.callNo);
    },

    /** Whether the run has any, also on its way to the disk. */
    hasRun(runId: string): boolean {
      for (const { head } of known.values()) if (head?.runId === runId) return true;
      return false;
    },
  };
}

export type CallOverlay = ReturnType<typeof createCallOverlay>;

export const headOf = (call: CallRecord, callNo: number): CallHead => ({
  id: call.id,
  callNo,
  runId: call.runId,
  toolName: call.toolName,
  status: call.status,
  clientId: call.provider?.clientId ?? call.wantedClientId,
  ownerToken: call.ownerToken,
});
