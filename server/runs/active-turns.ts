import { errorMessage } from '#lib/util/error-message';
import type { Logger } from '../logger.ts';
import type { CANCELLED, OWNER_REVOKED, SHUTTING_DOWN, TurnEnd } from './agent/agent.ts';
import { internalError } from './agent/describe-model-error.ts';
import type { LiveRun } from './live-run.ts';

type StopReason = typeof CANCELLED | typeof OWNER_REVOKED | typeof SHUTTING_DOWN;

/** The turns that run now: at most one of each run. */
export interface ActiveTurns {
  isActive(runId: string): boolean;
  /** The run whose turn this is, also while that is being written. */
  runOf(runId: string): LiveRun | undefined;
  activeIds(): string[];
  /** Keeps others from starting a turn of this run until it is launched, or released. */
  reserve(run: LiveRun): () => void;
  launch(run: LiveRun, body: (signal: AbortSignal) => Promise<TurnEnd>): void;
  /** Resolves when the turn has ended; at once when there is none. */
  stop(runId: string, reason: StopReason): Promise<void>;
}

interface Turn {
  readonly run: LiveRun;
  readonly controller: AbortController;
  readonly ended: PromiseWithResolvers<void>;
}

export function createActiveTurns(deps: { logger: Logger }): ActiveTurns {
  const turns = new Map<string, Turn>();

  const add = (run: LiveRun): Turn => {
    const turn = { run, controller: new AbortController(), ended: Promise.withResolvers<void>() };
    turns.set(run.runId, turn);
    return turn;
  };

  const remove = (turn: Turn) => {
    turns.delete(turn.run.runId);
    turn.ended.resolve();
  };

  const finish = async (turn: Turn, body: (signal: AbortSignal) => Promise<TurnEnd>) => {
    const end = await body(turn.controller.signal).catch((error): TurnEnd => {
      deps.logger.error(error);
      return { status: 'failed', error: internalError(error) };
    });
    if (end.status !== 'suspended') await save(turn.run, end);
    // Free before the end is published: its reader may start the next turn.
    remove(turn);
    if (end.status !== 'suspended') turn.run.publish();
  };

  const save = async (run: LiveRun, end: Exclude<TurnEnd, { status: 'suspended' }>) => {
    const error = end.status === 'failed' ? end.error : null;
    try {
      await run.save({ status: end.status, error, step: 0 });
    } catch (cause) {
      deps.logger.error(cause);
      // Nothing can be written any more, and the page shows that; no caller waits for ever.
      const detail = errorMessage(cause);
      const shown = error ?? { code: 'store_failed', message: detail, params: { detail } };
      run.show({ status: 'failed', error: shown, step: 0 });
    }
  };

  return {
    isActive: (runId) => turns.has(runId),
    runOf: (runId) => turns.get(runId)?.run,
    activeIds: () => [...turns.keys()],
    reserve(run) {
      const turn = add(run);
      return () => remove(turn);
    },
    launch(run, body) {
      const turn = turns.get(run.runId) ?? add(run);
      finish(turn, body).catch(deps.logger.error);
    },
    async stop(runId, reason) {
      const turn = turns.get(runId);
      turn?.controller.abort(reason);
      await turn?.ended.promise;
    },
  };
}
