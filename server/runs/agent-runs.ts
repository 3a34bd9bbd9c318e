import { Counts } from '#lib/limits/counts';
import { childRunOf } from '#lib/protocol/child-run';
import type { MessageAuthor, ModelListing, RunRecord } from '#lib/protocol/run';
import type { RunTool } from '#lib/protocol/run-tools';
import { stripInvisible } from '#lib/text/invisible';
import { redactShapes } from '#lib/text/redact';
import { errorMessage } from '#lib/util/error-message';
import { given } from '#lib/util/given';
import type { ModelTurnQuery, RunQuery, Store } from '../store/room.ts';
import { CANCELLED, SHUTTING_DOWN, WorkNotWanted } from './agent/agent.ts';
import { unreadAtEnd } from './agent/turn.ts';
import { REVOKED, stopperOf } from './agent/turn-ending.ts';
import type { KnownRuns } from './known-runs.ts';
import type { LiveRun, LiveRunDeps, UserInput } from './live-run.ts';
import { messagePage, PAGE_BYTES } from './message-page.ts';
import { stateOf } from './model-turn-log.ts';
import { type NewRun, newRun, type Settled, settled } from './new-run.ts';
import { authorIn, ownerOf } from './run-owner.ts';
import {
  notFound,
  ofSubAgent,
  refuse,
  replaceable,
  storeFailed,
  tooManyTurns,
} from './run-refusals.ts';
import type { ChildRequest, RunOutcome, SendRequest, StartRequest } from './run-requests.ts';
import { RunTurns, type RunTurnsDeps } from './run-turns.ts';

export interface RunServiceDeps extends RunTurnsDeps, Pick<LiveRunDeps, 'newId' | 'secrets'> {}

/** Someone asks for a turn; its message is apart. */
interface Asking {
  readonly clientId?: string | undefined;
  readonly traceparent?: string | undefined;
  readonly author?: MessageAuthor | undefined;
}

/** Characters of one message of a person. */
const LONGEST_INPUT = 256 * 1024;
/** Runs in a watcher's snapshot. */
const WATCHED_RUNS = 20;
/** Messages of a person that wait for the next step of a turn. */
const MOST_UNREAD = 32;
const NOTHING = { ok: true, text: '', files: [] } as const;
const BUSY = 'A turn of this run is going on. Stop it before a message is replaced.';

export type RunService = Omit<AgentRuns, 'runChild' | 'recover' | 'close' | 'deleteUnused'>;

/**
 * Conversations of the built-in agent, and the folders that outside agents' calls lie in: their
 * messages, their turns, and what a restart left of them. A run goes on when its caller disconnects.
 */
export class AgentRuns {
  readonly #deps: RunServiceDeps;
  /** Lets `work` delete a run that is not in use; whether it did. */
  readonly deleteUnused: KnownRuns['deleteUnused'];
  #isClosing = false;
  /** Messages on their way to the disk while a turn runs, by run. */
  readonly #arriving = new Counts();
  readonly #own: RunTurns;

  constructor(deps: RunServiceDeps) {
    this.#deps = deps;
    this.#own = new RunTurns(deps);
    this.deleteUnused = deps.known.deleteUnused;
  }

  /** Bound of the text of a result for a model, in bytes of UTF-8. */
  get resultBytes(): number {
    return this.#deps.agent.resultBytes;
  }

  /** Says of every tool whether the next step offers it, or why not. Undefined when there is no such run. */
  async tools(runId: string): Promise<readonly RunTool[] | undefined> {
    const run = await this.#deps.known.load(runId);
    return run && this.#own.toolStates(run);
  }

  async start(request: StartRequest): Promise<RunOutcome> {
    const { principal, input, model, tools, pinned, settings, ...asking } = request;
    const checked = this.#check(input, model);
    if (!checked.ok) return checked;
    const id = this.#deps.newId('run');
    const first = { title: input, model: checked.ref, tools: tools ? [...tools] : null };
    const more = given({ owner: ownerOf(principal), pinned_tools: pinned && [...pinned] });
    return this.#start({ ...first, ...settled(undefined, settings), run_id: id, ...more }, asking);
  }

  /** Resolves when the child's turn has ended, also when that failed or was stopped. */
  async runChild(request: ChildRequest): Promise<RunOutcome> {
    const { parent, task, model, tools, owner, signal } = request;
    const checked = this.#check(task, model);
    if (!checked.ok) return checked;
    const id = childRunOf(parent.call_id);
    if (await this.#deps.known.load(id)) return refuse('conflict', `There is a run ${id} already.`);
    const first = { title: task, model: checked.ref, tools: [...tools], parent };
    const outcome = await this.#start({ ...first, run_id: id, ...given({ owner }) }, request);
    if (!outcome.ok) return outcome;
    const stop = () => {
      const cause = errorMessage(signal.reason);
      const by = stopperOf(signal);
      const reason = new WorkNotWanted(parent.agent, parent.call_id, cause, by);
      this.#turns.stop(id, reason).catch(this.#deps.logger.error);
    };
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    await this.#turns.ended(id);
    signal.removeEventListener('abort', stop);
    const run = await this.get(id);
    return run ? { ok: true, run } : notFound(id);
  }

  async #start(
    first: NewRun & { readonly model: string },
    { clientId, traceparent, author }: Asking,
  ): Promise<RunOutcome> {
    const { agent, clock, known, secrets } = this.#deps;
    // Before it is cut: half of a secret is not found.
    const title = (secrets?.hide ?? redactShapes)(first.title);
    const run = known.make(newRun(clock, { ...first, title, max_steps: agent.maxSteps }));
    const message = { input: first.title, clientId, author };
    const outcome = await this.#begin(run, message, { model: first.model, traceparent });
    if (outcome.ok) known.add(run);
    return outcome;
  }

  /**
   * In the name of the run's owner. While a turn is running, its next step reads the message. Refused
   * with `conflict` while that is being stopped, while 32 messages wait, while 64 turns of the agent
   * that owns it go on, or once the owner's token is revoked.
   */
  async send(runId: string, request: SendRequest): Promise<RunOutcome> {
    const { model, clientId, replaces, givenId, traceparent, by } = request;
    const run = await this.#deps.known.load(runId);
    if (!run) return notFound(runId);
    const { parent } = run.summary();
    if (parent) return ofSubAgent(parent);
    if (!this.#own.ownerOf(run)) return refuse('conflict', REVOKED.message);
    // A message that is written anew keeps its files.
    const replaced = replaces === undefined ? NOTHING : replaceable(run, replaces);
    if (!replaced.ok) return replaced;
    const { input = replaced.text, files = replaced.files } = request;
    const checked = this.#check(input, model ?? run.summary().model ?? undefined, files.length);
    if (!checked.ok) return checked;
    const isActive = this.#turns.isActive(runId);
    if (isActive && replaces !== undefined) return refuse('conflict', BUSY);
    const author = by && authorIn(run.summary(), by);
    // The owner's turns are asked as the owner says.
    const settings = author ? {} : settled(run.summary().settings, request.settings);
    if (isActive) return this.#steer(run, { input, clientId, givenId, files, author }, settings);
    const message = { input, clientId, replaces, givenId, files, author };
    return this.#begin(run, message, { model: checked.ref, traceparent, ...settings });
  }

  /** Stops the turn and cancels its calls, within 100 ms. `by`: the name of who wished it, for notice and cards. */
  async cancel(runId: string, by?: string): Promise<RunOutcome> {
    await this.#turns.stop(runId, by === undefined ? CANCELLED : { stoppedBy: by });
    const run = await this.#deps.known.load(runId);
    return run ? { ok: true, run: run.record() } : notFound(runId);
  }

  async get(runId: string): Promise<RunRecord | undefined> {
    return (await this.#deps.known.load(runId))?.record();
  }

  /** Those at positions below `before`, as many as a run has in its record. */
  async messagesBefore(runId: string, before: number) {
    const page = { runId, before, maxChars: PAGE_BYTES };
    const { messages, to } = await this.#deps.store.listMessages(page);
    return messagePage(messages, to);
  }

  list(query: RunQuery): ReturnType<Store['listRuns']> {
    return this.#deps.store.listRuns(query);
  }

  /** Requests of a run to its models, in their order. Undefined when there is no such run. */
  async modelTurns(query: ModelTurnQuery) {
    const run = await this.#deps.known.load(query.runId);
    if (!run) return undefined;
    const { turns, nextAfter } = await this.#deps.store.listModelTurns(query);
    return { turns: turns.map((turn) => ({ ...turn, state: stateOf(turn, run) })), nextAfter };
  }

  /** Asks first a server of models that has not answered yet, for two seconds at most. */
  async models(): Promise<ModelListing[]> {
    await this.#deps.models.refresh();
    return this.#deps.models.list();
  }

  /** The newest runs with their messages, oldest first, for a watcher's snapshot. */
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
    const records = loaded.flatMap((run) => run?.record() ?? []);
    return records.toSorted((a, b) => a.updated_at - b.updated_at);
  }

  /** Takes up the turns that a restart cut short; to be called once, after the calls were taken up. */
  recover(): Promise<void> {
    return this.#own.recover();
  }

  /** Stops running turns where they are, for the next start to go on. Resolves when none runs. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const stop = (runId: string) => this.#turns.stop(runId, SHUTTING_DOWN);
    await Promise.all(this.#turns.activeIds().map(stop));
  }

  get #turns(): KnownRuns['turns'] {
    return this.#deps.known.turns;
  }

  #check(input: string, model: string | undefined, files = 0) {
    if (this.#isClosing) {
      return refuse('shutting_down', 'The server is stopping. Try again in a moment.');
    }
    // A model would be sent nothing of it.
    if (files === 0 && stripInvisible(input).trim() === '')
      return refuse('bad_request', 'input must not be empty.');
    if (input.length > LONGEST_INPUT) {
      const message = `input has ${input.length} characters; at most ${LONGEST_INPUT}.`;
      return refuse('bad_request', message);
    }
    const resolved = this.#deps.models.resolve(model);
    return resolved.ok ? resolved : refuse('bad_request', resolved.message);
  }

  /** A new turn of a run in which no other can start meanwhile. */
  async #begin(
    run: LiveRun,
    input: UserInput,
    asked: Settled & Pick<Asking, 'traceparent'> & { readonly model: string },
  ): Promise<RunOutcome> {
    const { model, traceparent, ...settings } = asked;
    const busy = tooManyTurns(this.#turns, run.summary(), this.#own.ownerOf(run));
    if (busy) return busy;
    const release = this.#turns.reserve(run);
    try {
      const trace = this.#own.traceOf(run, traceparent);
      const patch = { status: 'running', model, error: null, step: 0, trace, ...settings } as const;
      if (!(await run.addUserMessage(input, patch))) {
        release();
        return { ok: true, run: run.record() };
      }
    } catch (error) {
      release();
      return storeFailed(error);
    }
    this.#own.begin(run, model);
    return { ok: true, run: run.record() };
  }

  /** A message while a turn runs: its next step reads it, or the next turn where there is none (RU33). */
  async #steer(run: LiveRun, input: UserInput, settings: Settled): Promise<RunOutcome> {
    const { runId } = run;
    if (this.#turns.isStopping(runId)) {
      return refuse('conflict', 'The turn is being stopped. Send the message when it has ended.');
    }
    if (unreadAtEnd(run.messages()) + this.#arriving.of(runId) >= MOST_UNREAD) {
      const message = `${MOST_UNREAD} messages wait for the next step. Wait until it reads them.`;
      return refuse('conflict', message);
    }
    try {
      const patch = { status: 'running', error: null, ...settings } as const;
      const added = await this.#arriving.during(runId, () => run.addUserMessage(input, patch));
      if (!added) return { ok: true, run: run.record() };
    } catch (error) {
      return storeFailed(error);
    }
    // The turn had ended before the message was on disk.
    if (!this.#turns.isActive(runId)) this.#own.goOn(run);
    return { ok: true, run: run.record() };
  }
}
