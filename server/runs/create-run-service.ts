import type { ModelTurn, StoredModelTurn } from '#lib/protocol/model-turn';
import type { RunRecord, RunSummary } from '#lib/protocol/run';
import { abortable } from '#lib/util/abortable';
import { errorMessage } from '#lib/util/error-message';
import type { Principal } from '../auth/principal.ts';
import type { CallService } from '../calls/call-service.ts';
import type { Logger } from '../logger.ts';
import { StoreFailedError } from '../store/store.ts';
import { type Agent, CANCELLED, SHUTTING_DOWN, type TurnEnd } from './agent/agent.ts';
import type { TurnError } from './agent/describe-model-error.ts';
import type { Models, OpenedModel } from './agent/models.ts';
import { failure, type Notice, STOPPED } from './agent/notices.ts';
import type { KnownRuns } from './known-runs.ts';
import { createLiveRun, type LiveRun, type LiveRunDeps, type UserInput } from './live-run.ts';
import { recoverTurn } from './recover-turn.ts';
import type { RunOutcome, RunService } from './run-service.ts';
import { runTitle } from './run-title.ts';

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
  /** Whether this client is connected and offers tools. */
  offersTools(clientId: string): boolean;
  readonly logger: Logger;
}

/** Characters of one message of a person. */
const LONGEST_INPUT = 256 * 1024;
/** Runs in a watcher's snapshot. */
const WATCHED_RUNS = 20;
const CLIENTS_RETURN_MS = 3_000;
/** Whoever starts runs today is an operator, or acts for one: the record names nobody else. */
const OPERATOR: Principal = { kind: 'operator', sessionId: null };

type Refusal = Extract<RunOutcome, { ok: false }>;

export function createRunService(deps: RunServiceDeps): CreatedRunService {
  const { store, agent, models, known } = deps;
  const { turns } = known;
  let closing = false;

  /** Which model is asked is settled here, since its server may first have to be asked for it. */
  const runTurn = async (
    run: LiveRun,
    asked: { model: string; principal: Principal; stepsDone?: number },
    signal: AbortSignal,
  ): Promise<TurnEnd> => {
    const opened = await opening(models.open(asked.model), signal);
    if (!opened) return endStopped(run, signal);
    if (!opened.ok) return endFailed(run, opened.error);
    const { model } = opened;
    if (model.ref !== run.summary().model) await run.save({ model: model.ref });
    const { runId } = run;
    const { tools } = run.summary();
    return agent.runTurn({ ...asked, model, runId, tools, transcript: run, signal });
  };

  const launch = (run: LiveRun, model: string, principal: Principal) =>
    turns.launch(run, (signal) => runTurn(run, { model, principal }, signal));

  /** The turn of a run goes on after a restart; with the model that it had, if it is still there. */
  const goOn = (run: LiveRun, stepsDone: number, signal: AbortSignal): Promise<TurnEnd> => {
    const model = run.summary().model ?? models.defaultModel;
    return runTurn(run, { model, principal: OPERATOR, stepsDone }, signal);
  };

  /** A new turn of a run nobody else can start meanwhile. */
  const begin = async (run: LiveRun, input: UserInput, model: string, who: Principal) => {
    const release = turns.reserve(run);
    try {
      await run.addUserMessage(input, {
        status: 'running',
        model,
        error: null,
        step: 0,
      });
    } catch (error) {
      release();
      return storeFailed(error);
    }
    launch(run, model, who);
    return { ok: true as const, run: run.record() };
  };

  const check = (input: string, model: string | undefined) => {
    if (closing) return refuse('shutting_down', 'The server is stopping. Try again in a moment.');
    if (input.trim() === '') return refuse('bad_request', 'input must not be empty.');
    if (input.length > LONGEST_INPUT) {
      return refuse(
        'bad_request',
        `input has ${input.length} characters; at most ${LONGEST_INPUT}.`,
      );
    }
    const resolved = models.resolve(model);
    return resolved.ok ? resolved : refuse('bad_request', resolved.message);
  };

  return {
    async start({ principal, input, model, tools, clientId }) {
      const checked = check(input, model);
      if (!checked.ok) return checked;
      const summary = newSummary(deps, { input, model: checked.ref, tools });
      const run = createLiveRun(deps, { summary, messages: [] });
      const outcome = await begin(run, { input, clientId }, checked.ref, principal);
      if (outcome.ok) known.add(run);
      return outcome;
    },

    async send(runId, { principal, input, model, clientId }) {
      const run = await known.load(runId);
      if (!run) return notFound(runId);
      if (turns.isActive(runId)) {
        return refuse('conflict', 'A turn is running. Wait for its end, or cancel it first.');
      }
      const checked = check(input, model ?? run.summary().model ?? undefined);
      if (!checked.ok) return checked;
      return begin(run, { input, clientId }, checked.ref, principal);
    },

    async cancel(runId) {
      await turns.stop(runId, CANCELLED);
      const run = await known.load(runId);
      return run ? { ok: true, run: run.record() } : notFound(runId);
    },

    get: async (runId) => (await known.load(runId))?.record(),
    list: (query) => store.listRuns(query),
    async modelTurns(query) {
      const run = await known.load(query.runId);
      if (!run) return undefined;
      const { turns: stored, nextAfter } = await store.listModelTurns(query);
      return { turns: stored.map((turn) => ({ ...turn, state: stateOf(turn, run) })), nextAfter };
    },
    async models() {
      await models.refresh();
      return models.list();
    },
    ensure: known.ensure,

    async watched(runId) {
      if (runId !== undefined) {
        const run = await known.load(runId);
        return run ? [run.record()] : [];
      }
      const { runs } = await store.listRuns({ limit: WATCHED_RUNS });
      const ids = new Set([...runs.map((run) => run.run_id), ...turns.activeIds()]);
      const loaded = await Promise.all([...ids].map((id) => known.load(id)));
      // All read in one moment, after the last wait: what follows comes as events.
      return byUpdate(loaded.filter((run) => run !== undefined).map((run) => run.record()));
    },

    async recover() {
      for (const { run_id: runId } of await store.runningRuns()) {
        const run = turns.isActive(runId) ? undefined : await known.load(runId);
        if (!run) continue;
        const { calls, clock, logger, offersTools, clientsReturnMs = CLIENTS_RETURN_MS } = deps;
        const taken = { calls, clock, logger, offersTools, clientsReturnMs };
        turns.launch(run, (signal) =>
          recoverTurn(run, { ...taken, goOn: (done, stop) => goOn(run, done, stop) }, signal),
        );
      }
    },

    deleteUnused: known.deleteUnused,

    async close() {
      closing = true;
      await Promise.all(turns.activeIds().map((runId) => turns.stop(runId, SHUTTING_DOWN)));
    },
  };
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
  await endWith(run, STOPPED);
  return { status: 'cancelled' };
}

async function endFailed(run: LiveRun, error: TurnError): Promise<TurnEnd> {
  await endWith(run, failure(error));
  return { status: 'failed', error };
}

async function endWith(run: LiveRun, notice: Notice): Promise<void> {
  const writer = run.beginMessage();
  writer.addNotice(notice);
  await writer.end();
}

function newSummary(
  { agent, newId, clock }: RunServiceDeps,
  from: { input: string; model: string; tools: readonly string[] | undefined },
): RunSummary {
  const now = clock.now() / 1000;
  return {
    run_id: newId('run'),
    title: runTitle(from.input),
    status: 'idle',
    model: from.model,
    tools: from.tools ? [...from.tools] : null,
    step: 0,
    max_steps: agent.maxSteps,
    error: null,
    created_at: now,
    updated_at: now,
  };
}

const byUpdate = (runs: RunRecord[]): RunRecord[] =>
  runs.toSorted((a, b) => a.updated_at - b.updated_at);

const refuse = (code: Refusal['code'], message: string): Refusal => ({ ok: false, code, message });

const notFound = (runId: string): Refusal =>
  refuse('run_not_found', `There is no run ${JSON.stringify(runId.slice(0, 128))}.`);

function storeFailed(error: unknown): Refusal {
  if (!(error instanceof StoreFailedError)) throw error;
  return refuse('store_failed', `The run could not be stored: ${errorMessage(error)}`);
}
