import type { Attachment } from '#lib/protocol/attachment';
import type { MessageAuthor, NewSettings, RunOwner, RunParent, RunRecord } from '#lib/protocol/run';
import type { Caller, Principal } from '../auth/room.ts';

export type RunOutcome =
  | { readonly ok: true; readonly run: RunRecord }
  | {
      readonly ok: false;
      readonly code:
        | 'run_not_found'
        | 'bad_request'
        | 'conflict'
        | 'shutting_down'
        | 'store_failed';
      readonly message: string;
    };

export interface StartRequest {
  readonly principal: Principal;
  readonly input: string;
  readonly model?: string;
  readonly tools?: readonly string[];
  /** Names of tools that are offered before others. */
  readonly pinned?: readonly string[];
  readonly settings?: NewSettings;
  /** The client whose person says it: it is asked first for the calls that follow. */
  readonly clientId?: string;
  /** The turn's span stands below it, in the form that `readTraceparent` gives. */
  readonly traceparent?: string;
}

export interface SendRequest {
  readonly input?: string;
  readonly model?: string;
  readonly settings?: NewSettings;
  readonly clientId?: string;
  /**
   * In the place of that message of a person and of all that came after, which stay on record;
   * without `input` its own words again. Refused with `conflict` while a turn runs.
   */
  readonly replaces?: string;
  /** Another front end calls the message so. One of the newest that has it is that message, and is not sent a second time. */
  readonly givenId?: string;
  /** They are kept beside the text, which may be empty then. */
  readonly files?: readonly Attachment[];
  /** It counts where a turn begins. */
  readonly traceparent?: string;
  /** Who writes it, where that may be another than the owner: the turn does nothing that either of the two may not. */
  readonly by?: Caller;
}

/** A sub-agent's work, which ends with `signal` at the latest. */
export interface ChildRequest {
  readonly parent: RunParent;
  readonly task: string;
  readonly model: string | undefined;
  readonly tools: readonly string[];
  readonly owner: RunOwner | undefined;
  /** The client whose person asked for it all. */
  readonly clientId: string | undefined;
  /** The person who asked for it all, where that is not the owner. */
  readonly author?: MessageAuthor | undefined;
  /** The trace of the call that it works for. */
  readonly traceparent: string | undefined;
  readonly signal: AbortSignal;
}
