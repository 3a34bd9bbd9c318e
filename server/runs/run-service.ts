import type { ModelTurn } from '#lib/protocol/model-turn';
import type { ModelListing, RunRecord, RunSummary } from '#lib/protocol/run';
import type { Principal } from '../auth/principal.ts';
import type { ModelTurnQuery } from '../store/store.ts';

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
    /** The client whose person says it: it is asked first for the calls that follow. */
    clientId?: string;
  }): Promise<RunOutcome>;
  /** Refused with `conflict` while a turn is running. */
  send(
    runId: string,
    request: { principal: Principal; input: string; model?: string; clientId?: string },
  ): Promise<RunOutcome>;
  /** Stops the turn and cancels its calls, within 100 ms. A run that is idle stays as it is. */
  cancel(runId: string): Promise<RunOutcome>;
  get(runId: string): Promise<RunRecord | undefined>;
  list(query: { limit: number; cursor?: string }): Promise<{
    runs: RunSummary[];
    nextCursor: string | null;
  }>;
  /** Requests of a run to its models, in their order. Undefined when there is no such run. */
  modelTurns(
    query: ModelTurnQuery,
  ): Promise<{ turns: ModelTurn[]; nextAfter: number | null } | undefined>;
  /** Asks first a server of models that has not answered yet, for two seconds at most. */
  models(): Promise<ModelListing[]>;
  /** The newest runs with their messages, oldest first, for a watcher's snapshot. */
  watched(runId?: string): Promise<readonly RunRecord[]>;
  /** Makes the run of an outside agent's call, when there is none of that id. */
  ensure(runId: string, title: string): Promise<void>;
}
