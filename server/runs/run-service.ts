import type { Attachment } from '#lib/protocol/attachment';
import type { ModelTurn } from '#lib/protocol/model-turn';
import type {
  MessageAuthor,
  ModelListing,
  NewSettings,
  RunOwner,
  RunParent,
  RunRecord,
  RunSummary,
} from '#lib/protocol/run';
import type { RunTool } from '#lib/protocol/run-tools';
import type { Caller, Principal } from '../auth/room.ts';
import type { ModelTurnQuery, RunQuery } from '../store/room.ts';

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

/**
 * Runs: conversations of the built-in agent, and the folders that outside
 * agents' calls lie in. A run goes on when its caller disconnects.
 */
export interface RunService {
  start(request: {
    principal: Principal;
    input: string;
    model?: string;
    tools?: readonly string[];
    /** Names of tools that are offered before others. */
    pinned?: readonly string[];
    settings?: NewSettings;
    /** The client whose person says it: it is asked first for the calls that follow. */
    clientId?: string;
    /** The turn's span stands below it, in the form that `readTraceparent` gives. */
    traceparent?: string;
  }): Promise<RunOutcome>;
  /**
   * In the name of the run's owner. While a turn is running, its next step reads the message. Refused
   * with `conflict` while that is being stopped, while 32 messages wait, while 64 turns of the agent that owns it go on, or once the owner's token is revoked.
   * `traceparent` counts where a turn begins.
   * `replaces`: in the place of that message of a person and of all that came after, which stay on
   * record; without `input` its own words again. Refused with `conflict` while a turn runs.
   * `givenId`: what another front end calls the message. One of the newest messages that has it is
   * that message, and is not sent a second time.
   * `files`: kept beside the text, which may be empty then.
   * `by`: who writes it, where that may be another than the owner. It is the message's author then,
   * and its turn does nothing that either of the two may not.
   */
  send(
    runId: string,
    request: {
      input?: string;
      model?: string;
      settings?: NewSettings;
      clientId?: string;
      replaces?: string;
      givenId?: string;
      files?: readonly Attachment[];
      traceparent?: string;
      by?: Caller;
    },
  ): Promise<RunOutcome>;
  /**
   * Stops the turn and cancels its calls, within 100 ms. A run that is idle stays as it is. `by`: the
   * name of who wished it, for notice and cards.
   */
  cancel(runId: string, by?: string): Promise<RunOutcome>;
  /** Gives it with its newest messages, of at most 1 MiB together: the newest may have more by itself. */
  get(runId: string): Promise<RunRecord | undefined>;
  /** Gives the messages at positions below `before`, as many as a run has in its record. */
  messagesBefore(
    runId: string,
    before: number,
  ): Promise<Pick<RunRecord, 'messages' | 'messages_left_out'>>;
  list(query: RunQuery): Promise<{
    runs: RunSummary[];
    nextCursor: string | null;
  }>;
  /** Says of every tool whether the next step offers it, or why not. Undefined when there is no such run. */
  tools(runId: string): Promise<readonly RunTool[] | undefined>;
  /** Bound of the text of a result for a model, in bytes of UTF-8. */
  readonly resultBytes: number;
  /** Requests of a run to its models, in their order. Undefined when there is no such run. */
  modelTurns(
    query: ModelTurnQuery,
  ): Promise<{ turns: ModelTurn[]; nextAfter: number | null } | undefined>;
  /** Asks first a server of models that has not answered yet, for two seconds at most. */
  models(): Promise<ModelListing[]>;
  /** The newest runs with their messages, oldest first, for a watcher's snapshot. */
  watched(runId?: string): Promise<readonly RunRecord[]>;
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
