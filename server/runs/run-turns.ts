import type { Card } from '#lib/protocol/card';
import type { MessageAuthor, RunParent, RunTrace } from '#lib/protocol/run';
import type { RunTool } from '#lib/protocol/run-tools';
import { abortable } from '#lib/util/abortable';
import type { Caller } from '../auth/room.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { CallService } from '../calls/room.ts';
import type { Store } from '../store/room.ts';
import { beginTurnTrace, type Spans, traceparentOfTurn } from '../telemetry/room.ts';
import { OWNER_REVOKED, type ResolvedModel, SHUTTING_DOWN, type TurnEnd } from './agent/agent.ts';
import type { Agent } from './agent/create-agent.ts';
import type { Models } from './agent/models.ts';
import { NO_BUDGET, Spending, type TurnBudget } from './agent/spending.ts';
import { endWith, failedEnd, type NotedEnd, REVOKED, stoppedEnd } from './agent/turn-ending.ts';
import type { KnownRuns } from './known-runs.ts';
import type { LiveRun } from './live-run.ts';
import { endCutChild, recoverTurn } from './recover-turn.ts';
import { callerOfAuthor, type OwnerTokens } from './run-owner.ts';

export interface RunTurnsDeps {
  readonly known: KnownRuns;
  readonly calls: CallService;
  readonly agent: Agent;
  readonly models: Models;
  readonly store: Store;
  readonly clock: Clock;
  /** How long a turn that is taken up waits for clients to come back. Default 3 s. */
  readonly clientsReturnMs?: number;
  readonly owners: OwnerTokens;
  /** The settings of a sub-agent; undefined: the configuration has it no more. */
  subAgent?(name: string): { readonly prompt: string; readonly budget: TurnBudget } | undefined;
  offersTools(clientId: string): boolean;
  readonly spans?: Pick<Spans, 'isOn'>;
  readonly logger: Logger;
}

const CLIENTS_RETURN_MS = 3_000;

/** How the turns of runs begin, go on after a restart, and what they may take. */
export class RunTurns {
  readonly #deps: RunTurnsDeps;
  /** Turns that run spend something, by run. */
  readonly #spending = new Map<string, Spending>();

  constructor(deps: RunTurnsDeps) {
    this.#deps = deps;
    deps.owners.onRevoked((tokenId) => this.#stopTurnsOf(tokenId));
  }

  /** Undefined once its owner's token is revoked. */
  ownerOf(run: LiveRun): Caller | undefined {
    return this.#deps.owners.callerOf(run.summary().owner?.token_id ?? null);
  }

  /** A turn that begins now is known by this trace. `parent` came in with its message. */
  traceOf(run: LiveRun, parent: string | undefined): RunTrace | undefined {
    const { clock, spans = { isOn: false } } = this.#deps;
    // By the place of its first message, which no other turn has.
    const key = `${run.runId} ${run.older + run.messages().length}`;
    const trace = beginTurnTrace(spans, key, parent, clock.now() / 1_000);
    const { usage } = run.summary();
    if (!trace || !usage) return trace;
    const { input_tokens, output_tokens } = usage;
    return { ...trace, before: { input_tokens, output_tokens } };
  }

  /** Says of every tool whether the next step offers it, or why not; nothing once the owner's token is revoked. */
  async toolStates(run: LiveRun): Promise<readonly RunTool[]> {
    const { agent, models } = this.#deps;
    const owner = this.ownerOf(run);
    if (!owner) return [];
    const asked = await models.open(run.summary().model ?? models.defaultModel);
    // One that is not there takes no tools; the one that a run would get then is as good as any.
    const opened = asked.ok ? asked : await models.open(models.defaultModel);
    return opened.ok ? agent.toolStates(requestOf(run, owner, opened.model)) : [];
  }

  /** A turn for the message that was just written. */
  begin(run: LiveRun, model: string): void {
    this.#launch(run, (signal) => this.#run(run, { model }, signal));
  }

  /** A further turn; with the model that the run had, if it is still there. */
  goOn(run: LiveRun): void {
    this.#launch(run, (signal) => this.#goOn(run, 0, signal));
  }

  /** Takes up the turns that a restart cut short; to be called once, after the calls were taken up. */
  async recover(): Promise<void> {
    const { known, store, calls, clock, logger, offersTools } = this.#deps;
    const { clientsReturnMs = CLIENTS_RETURN_MS } = this.#deps;
    for (const { run_id: runId } of await store.runningRuns()) {
      const run = known.turns.isActive(runId) ? undefined : await known.load(runId);
      if (!run) continue;
      if (run.summary().parent) {
        this.#launch(run, (signal) => endCutChild(run, { calls, logger }, signal));
        continue;
      }
      const goOn = (done: number, stop: AbortSignal) => this.#goOn(run, done, stop);
      const taken = { calls, clock, logger, offersTools, clientsReturnMs, goOn };
      this.#launch(run, (signal) => recoverTurn(run, taken, signal));
    }
  }

  #launch(run: LiveRun, first: (signal: AbortSignal) => Promise<TurnEnd>): void {
    this.#deps.known.turns.launch(run, first, (signal) => this.#goOn(run, 0, signal));
  }

  #goOn(run: LiveRun, stepsDone: number, signal: AbortSignal): Promise<TurnEnd> {
    const model = run.summary().model ?? this.#deps.models.defaultModel;
    return this.#run(run, { model, stepsDone }, signal);
  }

  #stopTurnsOf(tokenId: string): void {
    const { turns } = this.#deps.known;
    for (const runId of turns.activeIds()) {
      if (turns.runOf(runId)?.summary().owner?.token_id !== tokenId) continue;
      turns.stop(runId, OWNER_REVOKED).catch(this.#deps.logger.error);
    }
  }

  /**
   * In the name of the run's owner, also when another sent the message. Which model is asked is settled
   * here, since its server may first have to be asked for it.
   */
  async #run(
    run: LiveRun,
    asked: { model: string; stepsDone?: number },
    signal: AbortSignal,
  ): Promise<TurnEnd> {
    const ended = async (end: NotedEnd) => endWith(await run.beginMessage(), end);
    const opened = await abortable(signal, this.#deps.models.open(asked.model)).catch((error) => {
      if (!signal.aborted) throw error;
    });
    if (!opened && signal.reason === SHUTTING_DOWN) return { status: 'suspended' };
    if (!opened) return ended(stoppedEnd(signal));
    if (!opened.ok) return ended(failedEnd(opened.error));
    const { model } = opened;
    // A message may have begun the turn that was written for the one before.
    const trace = run.summary().trace ?? this.traceOf(run, undefined);
    if (model.ref !== run.summary().model || trace !== run.summary().trace)
      await run.save({ model: model.ref, trace });
    const owner = this.ownerOf(run);
    if (!owner) return ended(failedEnd(REVOKED));
    const { parent, settings } = run.summary();
    const subAgent = parent && this.#deps.subAgent?.(parent.agent);
    const delegated = parent && {
      callId: parent.call_id,
      depth: parent.depth,
      prompt: subAgent?.prompt ?? '',
    };
    const spending = this.#spendingOf(parent, subAgent?.budget);
    const authorOf = (author: MessageAuthor) => callerOfAuthor(this.#deps.owners, author);
    const turn = { ...asked, ...requestOf(run, owner, model), authorOf, settings, signal };
    return this.#spend(run.runId, spending, () =>
      this.#deps.agent.runTurn({
        ...turn,
        delegated,
        spending,
        traceparent: traceparentOfTurn(trace),
      }),
    );
  }

  /** A sub-agent spends the budget of the turn that it works for, beside its own (DE6). */
  #spendingOf(parent: RunParent | undefined, own = NO_BUDGET): Spending {
    const { budget } = this.#deps.agent;
    if (!parent) return new Spending(budget);
    return new Spending(own, this.#spending.get(parent.run_id) ?? new Spending(budget));
  }

  /** The turn's spending is given which of its calls wait for a person (DE16). */
  async #spend<T>(runId: string, spending: Spending, work: () => Promise<T>): Promise<T> {
    const { calls, clock } = this.#deps;
    const now = () => clock.now() / 1000;
    this.#spending.set(runId, spending);
    const unfollow = calls.follow({ runId }, ({ call }) => {
      spending.callWaits(call.id, waits(call.card), now());
    });
    // A restart may have left some waiting; a new turn has none.
    for (const { id, card, createdAt } of calls.watched(runId)) {
      if (waits(card)) spending.callWaits(id, true, createdAt / 1000);
    }
    try {
      return await work();
    } finally {
      unfollow();
      this.#spending.delete(runId);
      spending.end(now());
    }
  }
}

/** Of a run, for its next step. */
function requestOf(run: LiveRun, owner: Caller, model: ResolvedModel) {
  const { runId } = run;
  const { tools, pinned_tools: pinned = [] } = run.summary();
  const principal = { kind: 'run', runId, owner } as const;
  return { principal, runId, model, tools, pinned, transcript: run };
}

/** For an operator, or for the person at the device. */
const waits = ({ phase }: Card): boolean =>
  phase === 'approval' || phase === 'held' || phase === 'device';
