import { isFinalStatus } from '#lib/protocol/is-final-status';
import { abortable } from '#lib/util/abortable';
import { pause } from '../../base/clock.ts';
import { beginModelRequest } from '../../telemetry/room.ts';
import { isUnread } from '../message-page.ts';
import type { MessageWriter } from '../message-writer.ts';
import type { TurnEnd, TurnRequest } from './agent.ts';
import { describeModelError, internalError, notice, type TurnError } from './notices.ts';
import { planStep, type StepPlan } from './prepare-prompt.ts';
import {
  type PreparedRequest,
  prepareRequest,
  refusedNotices,
  retryDelay,
  withoutRefused,
} from './prepare-request.ts';
import { Spending } from './spending.ts';
import { MOST_CALLS, type StartedCall, StepCalls } from './step-calls.ts';
import { type StepEnd, StepFailedError, streamStep } from './stream-step.ts';
import { emptyAnswersAtEnd, messagesRead, type Turn, type TurnDeps, untilFinal } from './turn.ts';
import {
  actorOf,
  completedWith,
  type Ending,
  endWith,
  failedEnd,
  isShuttingDown,
  stoppedEnd,
  stoppedWords,
  stopperOf,
} from './turn-ending.ts';

/** Answers with neither text nor call, one after the other, that end a turn. */
const MOST_EMPTY = 3;

/** So long a turn that ends waits until its calls are asked to stop. */
const ASKED_MS = 1_000;

const IDLE: TurnEnd = { status: 'idle' };

/**
 * One turn: the model is asked, its calls are run, until it answers without one
 * (rules AL1 to AL15). All state between two steps is on disk: the
 * history is rebuilt from messages and records before each.
 */
export async function runTurn(deps: TurnDeps, request: TurnRequest): Promise<TurnEnd> {
  const turn: Turn = {
    ...request,
    deps,
    finals: new Map(),
    scaled: new Map(),
    outputs: new WeakMap(),
    noted: new Set(),
    written: new Map(),
    spending: request.spending ?? new Spending(deps.budget),
  };
  for (let step = (request.stepsDone ?? 0) + 1; ; step += 1) {
    const end = await new Step(turn, step, await turn.transcript.beginMessage()).run();
    if (end) return end;
    // The person said more meanwhile: the limits count from there.
    if (isUnread(request.transcript.messages())) step = 0;
  }
}

/** One request to the model, made again where that helps, with its message and its calls. */
class Step {
  readonly #turn: Turn;
  readonly #number: number;
  readonly #writer: MessageWriter;
  #calls: StepCalls | undefined;

  constructor(turn: Turn, number: number, writer: MessageWriter) {
    this.#turn = turn;
    this.#number = number;
    this.#writer = writer;
  }

  /** Undefined when there is another step to do: the model called tools, or answered with nothing. */
  async run(): Promise<TurnEnd | undefined> {
    const turn = this.#turn;
    try {
      const plan = await abortable(turn.signal, planStep(turn, this.#number));
      const { ending, records, progress } = plan;
      const completed = completedWith(turn, records);
      if (completed !== undefined) return await this.#complete(completed);
      if (ending && ending.words === undefined) {
        return await endWith(this.#writer, { notice: ending.notice, end: IDLE });
      }
      const calls = new StepCalls(turn, this.#writer, progress);
      this.#calls = calls;
      const end = await this.#ask(plan, calls);
      const started = calls.finish(end.finishReason === 'length');
      if (calls.leftOut > 0)
        this.#note('calls_left_out', { count: calls.leftOut, limit: MOST_CALLS });
      if (started.length === 0) return await this.#answer(end, ending);
      // The calls stand in the history before anything waits for them: a crash loses none.
      await this.#writer.end(turn.model.ref);
      await waitForCalls(turn, started);
      return undefined;
    } catch (error) {
      return await this.#break(error);
    }
  }

  async #ask(plan: StepPlan, calls: StepCalls): Promise<StepEnd> {
    const turn = this.#turn;
    const { deps, signal, model, runId } = turn;
    const writer = this.#writer;
    const first = await prepareRequest(turn, plan);
    let request = first;
    for (let failures = 0, isFirst = true; ; isFirst = false) {
      const log = await writer.beginRequest({
        ...request.described,
        step: this.#number,
        beginsStep: !plan.ending && isFirst,
        model: model.ref,
      });
      const trace = beginModelRequest(deps.spans, {
        runId,
        model: model.ref,
        parent: turn.traceparent,
        startedAt: deps.clock.now(),
      });
      const { traceparent } = trace;
      const onAnswered = log.answered;
      try {
        const end = await streamStep({ turn, request, calls, writer, traceparent, onAnswered });
        log.end(end);
        trace.end(end);
        this.#takeAnswer(request, end);
        for (const one of refusedNotices(model.ref, first.lesson, request.lesson))
          writer.addNotice(one);
        this.#noteLeftOut(request);
        return end;
      } catch (error) {
        // Not written where the server stops, as nothing is: the request is left as by a crash.
        const ended = { errorCode: signal.aborted ? 'cancelled' : this.#failure(error).code };
        log.end(ended);
        trace.end(ended);
        const again = await this.#again(plan, request, error, failures);
        if (!again) throw error;
        await log.write();
        request = again.request;
        if (again.delay === undefined) continue;
        failures += 1;
        await pause(deps.clock, again.delay, signal);
      }
    }
  }

  /** The request that is made next, and after how long; undefined where asking again is no use. */
  async #again(plan: StepPlan, request: PreparedRequest, error: unknown, failures: number) {
    const { signal, deps } = this.#turn;
    if (!(error instanceof StepFailedError) || !error.isSilent) return undefined;
    const mended = signal.aborted
      ? undefined
      : await withoutRefused(this.#turn, plan, request, error.cause);
    if (mended) return { request: mended };
    const delay = retryDelay(error.cause, failures + 1, deps.maxRetries);
    return delay === undefined ? undefined : { request, delay };
  }

  #takeAnswer({ lesson }: PreparedRequest, { usage }: StepEnd): void {
    const { spending, deps, model, runId } = this.#turn;
    spending.tookTokens((usage.input_tokens ?? 0) + (usage.output_tokens ?? 0));
    deps.lessons.keep(model.ref, runId, lesson);
  }

  /** People could not see otherwise which messages the model was not sent, and which tools it was not offered. */
  #noteLeftOut({ leftOut, messagesLeftOut: count, states, described }: PreparedRequest): void {
    const { ref: model } = this.#turn.model;
    const { tools_offered: offered } = described;
    if (leftOut > 0) this.#noteOnce('tools_left_out', { offered, available: offered + leftOut });
    if (count > 0) this.#noteOnce('history_left_out', { count, model });
    const [first, ...others] = states.filter(({ offer }) => offer === 'schema_unfit');
    if (first) {
      const { name: tool, reason: detail = '' } = first;
      this.#noteOnce('tools_unfit', { model, tool, more: others.length, detail });
    }
  }

  #noteOnce(...of: Parameters<typeof notice>): void {
    const { noted } = this.#turn;
    if (!noted.has(of[0])) this.#note(...of);
    noted.add(of[0]);
  }

  #note(...of: Parameters<typeof notice>): void {
    this.#writer.addNotice(notice(...of));
  }

  /** The result is the turn's answer: who reads the last message, reads it. */
  async #complete(words: string): Promise<TurnEnd> {
    this.#writer.append('text', words);
    await this.#writer.end();
    return IDLE;
  }

  /** A step without calls is the turn's answer, unless it is empty and may be asked for again. */
  async #answer(end: StepEnd, ending: Ending | undefined): Promise<TurnEnd | undefined> {
    const { finishReason, isWordless, toolInText: tool } = end;
    const isCut = finishReason === 'length' || finishReason === 'content-filter';
    const isEmpty = isWordless && !isCut && !ending;
    const empty = isEmpty ? 1 + emptyAnswersAtEnd(messagesRead(this.#turn)) : 0;
    const model = this.#turn.model.ref;
    if (tool !== undefined) this.#note('calls_as_text', { tool, model });
    if (empty >= MOST_EMPTY) this.#note('empty_answers', { count: empty });
    if (ending) this.#writer.addNotice(ending.notice);
    if (isCut) this.#note(finishReason === 'length' ? 'answer_cut' : 'answer_filtered');
    await this.#writer.end(model);
    return isEmpty && empty < MOST_EMPTY ? undefined : IDLE;
  }

  /** Every way in which a step breaks ends here: each call has a record, and the person a notice. */
  async #break(error: unknown): Promise<TurnEnd> {
    const turn = this.#turn;
    const { signal, deps, runId } = turn;
    const words = signal.aborted ? stoppedWords(signal) : 'The model failed.';
    const running = this.#calls?.abandon(`${words} The arguments were not complete.`) ?? [];
    // The next start goes on as after a crash: what is not on disk was never said.
    if (isShuttingDown(signal)) return { status: 'suspended' };
    const asked = Promise.all(running.map((call) => cancelCall(turn, call, words)));
    // A call that a hook still looks at is no call yet: the person does not wait for that.
    await Promise.race([asked, pause(deps.clock, ASKED_MS)]);
    if (signal.aborted) return endWith(this.#writer, stoppedEnd(signal));
    if (!(error instanceof StepFailedError))
      deps.logger.error(error, 'A turn failed', undefined, { run_id: runId });
    return endWith(this.#writer, failedEnd(this.#failure(error)));
  }

  #failure(error: unknown): TurnError {
    return error instanceof StepFailedError
      ? describeModelError(error.cause, this.#turn.model.ref)
      : internalError(error);
  }
}

/** A call that `recorded` gives may be decided and not written yet: its end is waited for on disk. */
const waitForCalls = ({ deps, signal }: Turn, started: readonly StartedCall[]): Promise<unknown> =>
  abortable(
    signal,
    Promise.all(
      started.map(async ({ callId, recorded }) => {
        await recorded;
        await untilFinal(deps.calls, callId, signal);
      }),
    ),
  );

/** Its end is not waited for: a client may take its time to stop, the person should not. */
async function cancelCall(turn: Turn, { callId, recorded }: StartedCall, reason: string) {
  const { calls, logger } = turn.deps;
  try {
    const { status } = await recorded;
    if (isFinalStatus(status)) return;
    await calls.cancel(callId, reason, actorOf(turn), stopperOf(turn.signal));
  } catch (error) {
    logger.error(error);
  }
}
