import type { ModelTurn, StoredModelTurn } from '#lib/protocol/model-turn';
import type { Message, ModelListing, RunRecord } from '#lib/protocol/run';
import { abortable } from '#lib/util/abortable';
import { errorMessage } from '#lib/util/error-message';
import { given } from '#lib/util/given';
import type { Caller } from '../auth/principal.ts';
import type { CallService } from '../calls/call-service.ts';
import type { Logger } from '../logger.ts';
import { type ModelTurnQuery, StoreFailedError } from '../store/store.ts';
import {
  type Agent,
  CANCELLED,
  OWNER_REVOKED,
  SHUTTING_DOWN,
  type TurnEnd,
} from './agent/agent.ts';
import type { TurnError } from './agent/describe-model-error.ts';
import type { Models, OpenedModel } from './agent/models.ts';
import { failure, type Notice } from './agent/notices.ts';
import { REVOKED_END, stoppedEnd } from './agent/stopped-end.ts';
import type { KnownRuns } from './known-runs.ts';
import { createLiveRun, type LiveRun, type LiveRunDeps, type UserInput } from './live-run.ts';
import { newRun } from './new-run.ts';
import { recoverTurn } from './recover-turn.ts';
import { type OwnerTokens, ownerOf } from './run-owner.ts';
import type { RunOutcome, RunService } from './run-service.ts';

export interface CreatedRunService extends RunService {
  /** Takes up the turns that a restart cut short; to be called once, after the calls were taken up. */
  recover(): Promise<void>;
  /** Lets `work` delete a run that is not in use; whether it did. */
  deleteUnused(runId: string, work: () => Promise<void>): Promise<boolean>;
  /** Stops running turns where they are, for the next start to go on. Resolves when none runs. */
  close(): Promise<void>;
}

export interface RunServiceDeps extends LiveRunDeps {
  readonly known: KnownRuns;
  readonly calls: CallService;
  readonly agent: Agent;
  readonly models: Models;
  /** How long a turn that is taken up waits for clients to come back. Default 3 s. */
  readonly clientsReturnMs?: number;
  readonly owners: OwnerTokens;
  /** Whether this client is connected and offers tools. */
  offersTools(clientId: string): boolean;
  readonly logger: Logger;
}

/** Characters of one message of a person. */
const LONGEST_INPUT = 256 * 1024;
/** Runs in a watcher's snapshot. */
const WATCHED_RUNS = 20;
const CLIENTS_RETURN_MS = 3_000;
/** Messages of a person that wait for the next step of a turn. */
const MOST_UNREAD = 32;
type Refusal = Extract<RunOutcome, { ok: false }>;

export const createRunService = (deps: RunServiceDeps): CreatedRunService => new AgentRuns(deps);

class AgentRuns implements CreatedRunService {
  readonly #deps: RunServiceDeps;
  readonly deleteUnused: KnownRuns['deleteUnused'];
  #isClosing = false;
  /** Messages on their way to the disk while a turn runs, by run. */
  readonly #arriving = new Map<string, number>();

  constructor(deps: RunServiceDeps) {
    this.#deps = deps;
    this.deleteUnused = deps.known.deleteUnused;
    deps.owners.onRevoked((tokenId) => this.#stopTurnsOf(tokenId));
  }

  async start(request: Parameters<RunService['start']>[0]): Promise<RunOutcome> {
    const { principal, input, model, tools, clientId } = request;
    const checked = this.#check(input, model);
    if (!checked.ok) return checked;
    const { agent, newId, clock, known } = this.#deps;
    const summary = newRun(clock, {
      run_id: newId('run'),
      title: input,
      model: checked.ref,
      tools: tools ? [...tools] : null,
      max_steps: agent.maxSteps,
      ...given({ owner: ownerOf(principal) }),
    });
    const run = createLiveRun(this.#deps, { summary, messages: [] });
    const outcome = await this.#begin(run, { input, clientId }, checked.ref);
    if (outcome.ok) known.add(run);
    return outcome;
  }

  async send(runId: string, request: Parameters<RunService['send']>[1]): Promise<RunOutcome> {
    const { input, model, clientId } = request;
    const run = await this.#deps.known.load(runId);
    if (!run) return notFound(runId);
    if (!this.#callerOf(run)) return refuse('conflict', REVOKED_END.end.error.message);
    const checked = this.#check(input, model ?? run.summary().model ?? undefined);
    if (!checked.ok) return checked;
    if (this.#turns.isActive(runId)) return this.#steer(run, { input, clientId });
    return this.#begin(run, { input, clientId }, checked.ref);
  }

  async cancel(runId: string): Promise<RunOutcome> {
    await this.#turns.stop(runId, CANCELLED);
    const run = await this.#deps.known.load(runId);
    return run ? { ok: true, run: run.record() } : notFound(runId);
  }

  async get(runId: string): Promise<RunRecord | undefined> {
    return (await this.#deps.known.load(runId))?.record();
  }

  list(query: Parameters<RunService['list']>[0]): ReturnType<RunService['list']> {
    return this.#deps.store.listRuns(query);
  }

  async modelTurns(query: ModelTurnQuery): ReturnType<RunService['modelTurns']> {
    const run = await this.#deps.known.load(query.runId);
    if (!run) return undefined;
    const { turns, nextAfter } = await this.#deps.store.listModelTurns(query);
    return { turns: turns.map((turn) => ({ ...turn, state: stateOf(turn, run) })), nextAfter };
  }

  async models(): Promise<ModelListing[]> {
    await this.#deps.models.refresh();
    return this.#deps.models.list();
  }

  async watched(runId?: string): Promise<readonly RunRecord[]> {
    const { known, store } = this.#deps;
    if (runId !== undefined) {
      const run = await known.load(runId);
      return run ? [run.record()] : [];
    }
    const { runs } = await store.listRuns({ limit: WATCHED_RUNS });
    const ids = new Set([...runs.map((run) => run.run_id), ...this.#turns.activeIds()]);
    const loaded = await Promise.all([...ids].map((id) => known.load(id)));
    // All read in one moment, after the last wait: what follows comes as events.
    return byUpdate(loaded.filter((run) => run !== undefined).map((run) => run.record()));
  }

  async recover(): Promise<void> {
    const { known, store, calls, clock, logger, offersTools } = this.#deps;
    const { clientsReturnMs = CLIENTS_RETURN_MS } = this.#deps;
    for (const { run_id: runId } of await store.runningRuns()) {
      const run = this.#turns.isActive(runId) ? undefined : await known.load(runId);
      if (!run) continue;
      const goOn = (done: number, stop: AbortSignal) => this.#goOn(run, done, stop);
      const taken = { calls, clock, logger, offersTools, clientsReturnMs, goOn };
      this.#launch(run, (signal) => recoverTurn(run, taken, signal));
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    const turns = this.#turns;
    await Promise.all(turns.activeIds().map((runId) => turns.stop(runId, SHUTTING_DOWN)));
  }

  get #turns(): KnownRuns['turns'] {
    return this.#deps.known.turns;
  }

  #check(input: string, model: string | undefined) {
    if (this.#isClosing) {
      return refuse('shutting_down', 'The server is stopping. Try again in a moment.');
    }
    if (input.trim() === '') return refuse('bad_request', 'input must not be empty.');
    if (input.length > LONGEST_INPUT) {
      const message = `input has ${input.length} characters; at most ${LONGEST_INPUT}.`;
      return refuse('bad_request', message);
    }
    const resolved = this.#deps.models.resolve(model);
    return resolved.ok ? resolved : refuse('bad_request', resolved.message);
  }

  /** A new turn of a run in which no other can start meanwhile. */
  async #begin(run: LiveRun, input: UserInput, model: string): Promise<RunOutcome> {
    const release = this.#turns.reserve(run);
    try {
      await run.addUserMessage(input, { status: 'running', model, error: null, step: 0 });
    } catch (error) {
      release();
      return storeFailed(error);
    }
    this.#launch(run, (signal) => this.#runTurn(run, { model }, signal));
    return { ok: true, run: run.record() };
  }

  /** A message while a turn runs: its next step reads it, or the next turn where there is none (RU33). */
  async #steer(run: LiveRun, input: UserInput): Promise<RunOutcome> {
    const { runId } = run;
    if (this.#turns.isStopping(runId)) {
      return refuse('conflict', 'The turn is being stopped. Send the message when it has ended.');
    }
    if (unreadAtEnd(run.messages()) + (this.#arriving.get(runId) ?? 0) >= MOST_UNREAD) {
      const message = `${MOST_UNREAD} messages wait for the next step. Wait until it reads them.`;
      return refuse('conflict', message);
    }
    try {
      await this.#counted(runId, run.addUserMessage(input, { status: 'running', error: null }));
    } catch (error) {
      return storeFailed(error);
    }
    // The turn had ended before the message was on disk.
    if (!this.#turns.isActive(runId)) this.#launch(run, (signal) => this.#goOn(run, 0, signal));
    return { ok: true, run: run.record() };
  }

  #launch(run: LiveRun, first: Parameters<KnownRuns['turns']['launch']>[1]): void {
    this.#turns.launch(run, first, (signal) => this.#goOn(run, 0, signal));
  }

  async #counted(runId: string, arriving: Promise<void>): Promise<void> {
    const count = this.#arriving;
    count.set(runId, (count.get(runId) ?? 0) + 1);
    try {
      await arriving;
    } finally {
      const left = (count.get(runId) ?? 1) - 1;
      if (left > 0) count.set(runId, left);
      else count.delete(runId);
    }
  }

  /** The turn of a run goes on after a restart; with the model that it had, if it is still there. */
  #goOn(run: LiveRun, stepsDone: number, signal: AbortSignal): Promise<TurnEnd> {
    const model = run.summary().model ?? this.#deps.models.defaultModel;
    return this.#runTurn(run, { model, stepsDone }, signal);
  }

  /** Undefined once the token of its owner is revoked. */
  #callerOf(run: LiveRun): Caller | undefined {
    return this.#deps.owners.callerOf(run.summary().owner?.token_id ?? null);
  }

  #stopTurnsOf(tokenId: string): void {
    const turns = this.#turns;
    for (const runId of turns.activeIds()) {
      if (turns.runOf(runId)?.summary().owner?.token_id !== tokenId) continue;
      turns.stop(runId, OWNER_REVOKED).catch(this.#deps.logger.error);
    }
  }

  /**
   * In the name of the run's owner, also when another sent the message. Which model is asked is settled
   * here, since its server may first have to be asked for it.
   */
  async #runTurn(
    run: LiveRun,
    asked: { model: string; stepsDone?: number },
    signal: AbortSignal,
  ): Promise<TurnEnd> {
    const opened = await opening(this.#deps.models.open(asked.model), signal);
    if (!opened) return endStopped(run, signal);
    if (!opened.ok) return endFailed(run, opened.error);
    const { model } = opened;
    if (model.ref !== run.summary().model) await run.save({ model: model.ref });
    const owner = this.#callerOf(run);
    if (!owner) return endWith(run, REVOKED_END);
    const { runId } = run;
    const { tools } = run.summary();
    const principal = { kind: 'run', runId, owner } as const;
    const turn = { ...asked, principal, model, runId, tools, transcript: run, signal };
    return this.#deps.agent.runTurn(turn);
  }
}

function stateOf(turn: StoredModelTurn, run: LiveRun): ModelTurn['state'] {
  if (turn.ended_at !== null) return turn.finish_reason === null ? 'failed' : 'done';
  return run.mayEnd(turn.number) ? 'running' : 'interrupted';
}

/** Undefined when the turn was stopped while it waited. */
async function opening(
  opened: Promise<OpenedModel>,
  signal: AbortSignal,
): Promise<OpenedModel | undefined> {
  try {
    return await abortable(signal, opened);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

async function endStopped(run: LiveRun, signal: AbortSignal): Promise<TurnEnd> {
  if (signal.reason === SHUTTING_DOWN) return { status: 'suspended' };
  return endWith(run, stoppedEnd(signal));
}

const endFailed = (run: LiveRun, error: TurnError): Promise<TurnEnd> =>
  endWith(run, { notice: failure(error), end: { status: 'failed', error } });

async function endWith(
  run: LiveRun,
  { notice, end }: { notice: Notice; end: TurnEnd },
): Promise<TurnEnd> {
  const writer = await run.beginMessage();
  writer.addNotice(notice);
  await writer.end();
  return end;
}

const unreadAtEnd = (messages: readonly Message[]): number =>
  messages.length - 1 - messages.findLastIndex(({ role }) => role !== 'user');

const byUpdate = (runs: RunRecord[]): RunRecord[] =>
  runs.toSorted((a, b) => a.updated_at - b.updated_at);

const refuse = (code: Refusal['code'], message: string): Refusal => ({ ok: false, code, message });

const notFound = (runId: string): Refusal =>
  refuse('run_not_found', `There is no run ${JSON.stringify(runId.slice(0, 128))}.`);

function storeFailed(error: unknown): Refusal {
  if (!(error instanceof StoreFailedError)) throw error;
  return refuse('store_failed', `The run could not be stored: ${errorMessage(error)}`);
}
