import type { Call } from '#lib/call/call';
import type { CallEventEntry } from '#lib/call/call-event';
import type { CallStatus } from '#lib/protocol/call-status';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { toLogText } from './log-text.ts';
import { VersionConflictError } from './store-errors.ts';

/** A list asks for these fields of a call, which need not be in the table of calls for that. */
export interface CallHead {
  readonly id: string;
  /** Rises in the order in which calls were first written. */
  readonly callNo: number;
  readonly runId: string;
  readonly toolName: string;
  readonly status: CallStatus;
  /** The client that has it, else the only one that may take it. */
  readonly clientId: string | null;
  readonly ownerToken: string | null;
}

/** A call as the log has it, or will have it once the writes of before are done. */
export interface KnownCall {
  readonly version: number;
  /** The place of its first row in the log; 0 for a call that is not there. */
  readonly callNo: number;
  readonly head?: CallHead;
  /** The place of its newest event; a row that took several has the place of the first. */
  readonly seq: number;
}

export const NOT_THERE: KnownCall = { version: 0, callNo: 0, seq: 0 };

/** One row of the log, as far as a write makes it. */
export interface NewLogRow {
  readonly seq: number;
  readonly callId: string;
  /** The position of its first event. */
  readonly version: number;
  ends: boolean;
  readonly texts: string[];
}

interface OverlayOptions {
  /** Reads a call that the overlay does not have. */
  read(id: string): KnownCall;
  /** The greatest id in the log: nothing needs to be read to know that a newer one is not there. */
  readonly newest: string;
  /** The last place that is taken in the log. */
  readonly position: number;
  /** The calls that are open in the log. */
  readonly open: Iterable<KnownCall>;
}

/**
 * The calls that the table of calls does not have as they are: open ones, and ended ones until they
 * are applied. Every reader sees them by this.
 */
export class CallOverlay {
  readonly #read: OverlayOptions['read'];
  /** These states hold once all that is on its way is written. */
  readonly #known = new Map<string, KnownCall>();
  /** These states are on disk. */
  readonly #settled = new Map<string, KnownCall>();
  #newest: string;
  #position: number;

  constructor({ read, newest, position, open }: OverlayOptions) {
    this.#read = read;
    this.#newest = newest;
    this.#position = position;
    for (const call of open) {
      if (!call.head) continue;
      this.#known.set(call.head.id, call);
      this.#settled.set(call.head.id, call);
    }
  }

  /** The next place in the log. */
  takePosition(): number {
    this.#position += 1;
    return this.#position;
  }

  beginWrite(): CallsOfWrite {
    return new CallsOfWrite(this);
  }

  /** Tells the state that the call has once all that is on its way is written. */
  known(id: string): KnownCall {
    return this.#known.get(id) ?? (id > this.#newest ? NOT_THERE : this.#read(id));
  }

  /** An open call is not to be deleted; without a read. */
  isOpen(id: string): boolean {
    const head = this.#known.get(id)?.head;
    return head !== undefined && !isFinalStatus(head.status);
  }

  /** It will be written. */
  keep(id: string, state: KnownCall): void {
    this.#known.set(id, state);
    if (id > this.#newest) this.#newest = id;
  }

  /** It is on disk. */
  settle(id: string, state: KnownCall): void {
    if (state.head) this.#settled.set(id, state);
    else this.#settled.delete(id);
    // A deleted call is forgotten, unless something was decided on it meanwhile.
    if (!state.head && this.#known.get(id) === state) this.#known.delete(id);
  }

  /** The table of calls has all that ended up to this place of the log. */
  applied(upTo: number): void {
    for (const [id, call] of this.#settled) {
      if (call.seq > upTo || !call.head || !isFinalStatus(call.head.status)) continue;
      this.#settled.delete(id);
      if (this.#known.get(id) === call) this.#known.delete(id);
    }
  }

  /** Gives the calls that meet it, the newest first. */
  find(meets: (head: CallHead) => boolean): CallHead[] {
    const found: CallHead[] = [];
    for (const { head } of this.#settled.values()) if (head && meets(head)) found.push(head);
    return found.sort((a, b) => b.callNo - a.callNo);
  }

  /** Says whether the run has any call, also on its way to the disk. */
  hasRun(runId: string): boolean {
    for (const { head } of this.#known.values()) if (head?.runId === runId) return true;
    return false;
  }
}

/** One write on its way: what it makes of calls, seen by nothing else before `keep`. */
class CallsOfWrite {
  /** The appended events, a row a call. */
  readonly rows: NewLogRow[] = [];
  readonly #overlay: CallOverlay;
  readonly #made = new Map<string, KnownCall>();

  constructor(overlay: CallOverlay) {
    this.#overlay = overlay;
  }

  /** Throws `VersionConflictError`. */
  append(call: Call, event: CallEventEntry): void {
    const { id, version } = call;
    const before = this.#made.get(id) ?? this.#overlay.known(id);
    if (event.version !== before.version + 1) {
      throw new VersionConflictError(id, event.version, before.version);
    }
    if (version !== event.version) {
      throw new TypeError(`the call ${id} is not of the version of its event`);
    }
    const text = toLogText(event);
    const ends = isFinalStatus(call.status);
    const seq = this.#addText(id, version, ends, text);
    const callNo = before.callNo || seq;
    this.#made.set(id, { version, callNo, seq, head: headOf(call, callNo) });
  }

  #addText(callId: string, version: number, ends: boolean, text: string): number {
    const last = this.rows.at(-1);
    if (last?.callId === callId) {
      last.texts.push(text);
      last.ends = ends;
      return last.seq;
    }
    const seq = this.#overlay.takePosition();
    this.rows.push({ seq, callId, version, ends, texts: [text] });
    return seq;
  }

  /** False for an open call, which stays. What comes after, and was decided on it, does not follow any more. */
  delete(id: string): boolean {
    const made = this.#made.get(id)?.head;
    const isOpen = made ? !isFinalStatus(made.status) : this.#overlay.isOpen(id);
    if (!isOpen) this.#made.set(id, NOT_THERE);
    return !isOpen;
  }

  /** The write will be made. */
  keep(): void {
    for (const [id, state] of this.#made) this.#overlay.keep(id, state);
  }

  /** The write is on disk. */
  settle(): void {
    for (const [id, state] of this.#made) this.#overlay.settle(id, state);
  }
}

export const headOf = (call: Call, callNo: number): CallHead => ({
  id: call.id,
  callNo,
  runId: call.runId,
  toolName: call.toolName,
  status: call.status,
  clientId: call.provider?.clientId ?? call.wantedClientId,
  ownerToken: call.ownerToken,
});
