import type { CallRecord } from '#lib/call/call-record';

/**
 * Runs the calls of one kind of tools. The engine's effects go to the one that
 * `toolProvider` of the record names, and nothing of the engine depends on which
 * that is. It decides nothing: what becomes of a call comes back as an event.
 */
export interface ToolProvider {
  /** Starts the call, or asks the client that it is pinned to. Called once for each attempt. */
  start(call: CallRecord): void;
  /** Asks to stop it; also of a call that has not started, or has ended. */
  stop(call: CallRecord, reason: string): void;
}

/** By their names. */
export type ToolProviders = ReadonlyMap<CallRecord['toolProvider'], ToolProvider>;
