import type { RunSummary } from '#lib/protocol/run';
import type { Logger } from '../logger.ts';
import { type ActiveTurns, createActiveTurns } from './active-turns.ts';
import { createLiveRun, type LiveRun, type LiveRunDeps } from './live-run.ts';
import { runTitle } from './run-title.ts';

/** The runs that are in memory, and the way to those that are not. */
export interface KnownRuns {
  /** Those that run now. Their runs are in memory. */
  readonly turns: ActiveTurns;
  add(run: LiveRun): void;
  /** The one live object of a run. Undefined when there is no such run. */
  load(runId: string): Promise<LiveRun | undefined>;
  /** Makes the run of an outside agent's call. Costs nothing for a run it knows. */
  ensure(runId: string, title: string): Promise<void>;
  /**
   * Lets `work` delete a run, unless it is in use: resolves to whether it did. Who asks for the run
   * meanwhile waits, and finds it gone.
   */
  deleteUnused(runId: string, work: () => Promise<void>): Promise<boolean>;
}

/** Runs kept whole, beside those that have a turn. */
const KEPT_RUNS = 64;
/** Ids that need no look-up: one each for as many agents as call at a time. */
const KEPT_IDS = 10_000;
/** A call that was asked for with a run is in the store by then. */
const IN_USE_MS = 60_000;

export interface KnownRunsDeps extends LiveRunDeps {
  readonly maxSteps: number;
  readonly logger: Logger;
}

export function createKnownRuns(deps: KnownRunsDeps): KnownRuns {
  const { store } = deps;
  const turns = createActiveTurns(deps);
  const kept = new Map<string, LiveRun>();
  /** When each was asked for last. */
  const ids = new Map<string, number>();
  const loading = new Map<string, Promise<LiveRun | undefined>>();
  const making = new Map<string, Promise<void>>();
  const deleting = new Map<string, Promise<unknown>>();

  const keep = (run: LiveRun): LiveRun => {
    kept.delete(run.runId);
    kept.set(run.runId, run);
    // Two live objects of one must not be.
    dropOldest(kept, KEPT_RUNS, turns.isActive);
    return run;
  };

  const read = async (runId: string): Promise<LiveRun | undefined> => {
    await deleting.get(runId);
    const [summary, messages] = await Promise.all([store.getRun(runId), store.getMessages(runId)]);
    if (!summary) return undefined;
    // It may have been made, and begun its first turn, while it was looked up.
    const live = kept.get(runId) ?? turns.runOf(runId);
    return keep(live ?? createLiveRun(deps, { summary, messages }));
  };

  const load = (runId: string): Promise<LiveRun | undefined> => {
    const live = kept.get(runId);
    if (live) return Promise.resolve(keep(live));
    return once(loading, runId, () => read(runId));
  };

  const make = async (runId: string, title: string): Promise<void> => {
    await deleting.get(runId);
    if (!kept.has(runId) && !(await store.getRun(runId))) {
      const now = deps.clock.now() / 1000;
      const run = outsideRun({
        run_id: runId,
        title: runTitle(title),
        now,
        max_steps: deps.maxSteps,
      });
      await store.write([{ type: 'put_run', run }]);
      deps.bus.publish({ type: 'run', run });
    }
    ids.set(runId, deps.clock.now());
    dropOldest(ids, KEPT_IDS);
  };

  const isInUse = (runId: string): boolean =>
    kept.has(runId) ||
    [loading, making, deleting].some((map) => map.has(runId)) ||
    turns.isActive(runId) ||
    deps.clock.now() - (ids.get(runId) ?? 0) < IN_USE_MS;

  const deleteUnused = async (runId: string, work: () => Promise<void>): Promise<boolean> => {
    // One that lies in memory may be in the hands of somebody: they take it back, or let it go.
    if (!turns.isActive(runId)) kept.delete(runId);
    await new Promise((resolve) => setImmediate(resolve));
    if (isInUse(runId)) return false;
    ids.delete(runId);
    await once(deleting, runId, work);
    return true;
  };

  return {
    turns,
    add: (run) => void keep(run),
    load,
    deleteUnused,
    ensure(runId, title) {
      if (!ids.has(runId)) return once(making, runId, () => make(runId, title));
      ids.set(runId, deps.clock.now());
      return Promise.resolve();
    },
  };
}

function outsideRun(from: {
  run_id: string;
  title: string;
  now: number;
  max_steps: number;
}): RunSummary {
  return {
    run_id: from.run_id,
    title: from.title,
    status: 'idle',
    model: null,
    tools: null,
    step: 0,
    max_steps: from.max_steps,
    error: null,
    created_at: from.now,
    updated_at: from.now,
  };
}

/** Those who ask while it is being done share it. */
function once<T>(
  running: Map<string, Promise<T>>,
  key: string,
  start: () => Promise<T>,
): Promise<T> {
  const known = running.get(key);
  if (known) return known;
  const started = start().finally(() => running.delete(key));
  running.set(key, started);
  return started;
}

function dropOldest(
  kept: { size: number; keys(): Iterable<string>; delete(key: string): boolean },
  most: number,
  isNeeded: (key: string) => boolean = () => false,
): void {
  if (kept.size <= most) return;
  for (const key of kept.keys()) {
    if (isNeeded(key)) continue;
    kept.delete(key);
    return;
  }
}
