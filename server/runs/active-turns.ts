import type { Message, RunParent, RunSummary } from '#lib/protocol/run';
import { errorMessage } from '#lib/util/error-message';
import type { Logger } from '../base/logger.ts';
import { endTurnTrace, type Spans } from '../telemetry/room.ts';
import type { StopReason, TurnEnd } from './agent/agent.ts';
import { internalError, turnError } from './agent/notices.ts';
import type { LiveRun } from './live-run.ts';

type SavedEnd = Exclude<TurnEnd, { status: 'suspended' }>;

type TurnBody = (signal: AbortSignal) => Promise<TurnEnd>;

interface Turn {
  readonly run: LiveRun;
  readonly controller: AbortController;
  readonly ended: PromiseWithResolvers<void>;
}

interface ActiveTurnsDeps {
  readonly logger: Logger;
  readonly spans?: Pick<Spans, 'add'>;
}

/** The turns that run now: at most one of each run. */
export class ActiveTurns {
  readonly #logger: Logger;
  readonly #spans: ActiveTurnsDeps['spans'];
  readonly #turns = new Map<string, Turn>();

  constructor({ logger, spans }: ActiveTurnsDeps) {
    this.#logger = logger;
    this.#spans = spans;
  }

  isActive(runId: string): boolean {
    return this.#turns.has(runId);
  }

  isStopping(runId: string): boolean {
    return this.#turns.get(runId)?.controller.signal.aborted ?? false;
  }

  /** The run whose turn this is, also while that is being written. */
  runOf(runId: string): LiveRun | undefined {
    return this.#turns.get(runId)?.run;
  }

  activeIds(): string[] {
    return [...this.#turns.keys()];
  }

  /** Keeps others from starting a turn of this run until it is launched, or released. */
  reserve(run: LiveRun): () => void {
    const turn = this.#add(run);
    return () => this.#remove(turn);
  }

  /** `next` runs as a further turn where a person's message came that the one before has not read. */
  launch(run: LiveRun, first: TurnBody, next: TurnBody): void {
    const turn = this.#turns.get(run.runId) ?? this.#add(run);
    this.#finish(turn, first, next).catch(this.#logger.error);
  }

  /** Resolves when the turn has ended; at once when there is none. */
  async stop(runId: string, reason: StopReason): Promise<void> {
    const turn = this.#turns.get(runId);
    turn?.controller.abort(reason);
    await turn?.ended.promise;
  }

  /** The same, and stops nothing. */
  async ended(runId: string): Promise<void> {
    await this.#turns.get(runId)?.ended.promise;
  }

  #add(run: LiveRun): Turn {
    const turn = { run, controller: new AbortController(), ended: Promise.withResolvers<void>() };
    this.#turns.set(run.runId, turn);
    return turn;
  }

  #remove(turn: Turn): void {
    this.#turns.delete(turn.run.runId);
    turn.ended.resolve();
  }

  async #finish(turn: Turn, first: TurnBody, next: TurnBody): Promise<void> {
    let lastSeen = turn.run.messages().at(-1);
    let end = await this.#run(turn, first);
    while (end.status !== 'suspended' && !(await this.#save(turn.run, end, lastSeen))) {
      lastSeen = turn.run.messages().at(-1);
      end = await this.#run(turn, next);
    }
    // Free before the end is published: its reader may start the next turn.
    this.#remove(turn);
    if (end.status !== 'suspended') turn.run.publish();
  }

  #run(turn: Turn, body: TurnBody): Promise<TurnEnd> {
    return body(turn.controller.signal).catch((error) => {
      this.#logger.error(error, 'A turn failed', undefined, { run_id: turn.run.runId });
      return { status: 'failed', error: internalError(error) };
    });
  }

  /** False where a message came that the turn has not read. What was stopped or failed reads no more. */
  async #save(run: LiveRun, end: SavedEnd, lastSeen: Message | undefined): Promise<boolean> {
    const error = end.status === 'failed' ? end.error : null;
    const { trace, ...summary } = run.summary();
    const patch = { status: end.status, error, step: 0, trace: undefined } as const;
    try {
      if (end.status !== 'idle') await run.save(patch);
      else if (!(await run.endTurn(patch, lastSeen))) return false;
      const errorCode = end.status === 'cancelled' ? 'cancelled' : error?.code;
      if (trace && this.#spans) endTurnTrace(this.#spans, summary, trace, errorCode);
    } catch (cause) {
      this.#logger.error(cause, 'The end of a turn was not written', undefined, {
        run_id: run.runId,
      });
      // Nothing can be written any more, and the page shows that; no caller waits for ever.
      const detail = errorMessage(cause);
      const shown = error ?? turnError('store_failed', { detail });
      run.show({ status: 'failed', error: shown, step: 0 });
    }
    return true;
  }
}

interface Turns {
  runOf(runId: string): { summary(): RunSummary } | undefined;
}

/**
 * Where a run stands: which sub-agents are above it, itself among them, and how deep. It is asked of
 * runs whose turns run, and of those that have none: a sub-agent's run outlives no turn above it.
 */
export function placeOf(turns: Turns, runId: string) {
  const lineage: string[] = [];
  let rootId = runId;
  let depth = 0;
  for (let parent = parentOf(turns, runId); parent; parent = parentOf(turns, rootId)) {
    depth = Math.max(depth, parent.depth);
    lineage.push(parent.agent);
    rootId = parent.run_id;
  }
  return { depth, lineage, rootId };
}

const parentOf = (turns: Turns, runId: string): RunParent | undefined =>
  turns.runOf(runId)?.summary().parent;
