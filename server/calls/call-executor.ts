import type { Call } from '#lib/call/call';
import { isOfClient } from '#lib/protocol/tool-source';

type Args = Call['args'];

/**
 * Runs calls: inside the server, or by asking a client. The engine's effects go to
 * the one that the record says, and nothing of the engine depends on which
 * that is. It decides nothing: what becomes of a call comes back as an event.
 */
export interface CallExecutor {
  /** Starts the call, or asks the client that it is pinned to. Called once for each attempt. */
  start(call: Call): void;
  /**
   * What looks at arguments that are still being written; undefined where the tool has none. Nothing
   * of the call is decided, so that nothing may be done.
   */
  partialOf?(call: Call): ((args: Args) => void | Promise<void>) | undefined;
  /** Asks to stop it; also of a call that has not started, or has ended. */
  stop(call: Call, reason: string): void;
}

export interface CallExecutors {
  /** For the tools of every `ToolProvider`. */
  readonly inside: CallExecutor;
  readonly clients: CallExecutor;
}

export const executorOf = (
  { inside, clients }: CallExecutors,
  call: Pick<Call, 'source'>,
): CallExecutor => (isOfClient(call) ? clients : inside);
