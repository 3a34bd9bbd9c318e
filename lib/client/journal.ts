import type { ClientMessageOf } from '../protocol/client-messages.ts';

/** What ends a call from this side. */
export type CallAnswer = ClientMessageOf<'tool_result'> | ClientMessageOf<'tool_error'>;

/** A call that was granted here and is not yet acknowledged. */
export interface JournalEntry {
  readonly id: string;
  readonly attempt: number;
  readonly tool: string;
  /** True when running it twice does no harm: it may then be forgotten rather than kept. */
  readonly repeatable: boolean;
  /** The answer once there is one; until then the tool has started and nothing more is known. */
  readonly answer: CallAnswer | null;
}

/**
 * A client instance's memory of its calls, written before the tool runs and
 * before its answer is sent, so that no call runs twice and no answer is lost.
 * It has no part in sockets. One instance has one journal, and no other instance uses it.
 *
 * `put` and `delete` resolve once they are on disk and reject when they cannot be.
 */
export interface Journal {
  /** Random, made with the store: another epoch means that earlier entries are lost. */
  readonly epoch: string;
  /** In the order in which they were put last. */
  entries(): Promise<JournalEntry[]>;
  /** Adds, or replaces the entry of that id. May drop the oldest repeatable answers for room. */
  put(entry: JournalEntry): Promise<void>;
  delete(id: string): Promise<void>;
  close(): void;
}

/** Bytes that a journal holds before it drops the oldest repeatable answers. */
export const JOURNAL_BYTES = 50 * 1024 * 1024;
