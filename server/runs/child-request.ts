import type { MessageAuthor, RunOwner, RunParent } from '#lib/protocol/run';

/** A sub-agent's work, which ends with `signal` at the latest. */
export interface ChildRequest {
  readonly parent: RunParent;
  readonly task: string;
  readonly model: string | undefined;
  readonly tools: readonly string[];
  readonly owner: RunOwner | undefined;
  /** The client whose person asked for it all. */
  readonly clientId: string | undefined;
  /** Who asked for it all, where that is not the owner. */
  readonly author?: MessageAuthor | undefined;
  /** Of the call that it works for. */
  readonly traceparent: string | undefined;
  readonly signal: AbortSignal;
}
