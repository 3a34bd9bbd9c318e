import { isFinalStatus } from '#lib/protocol/is-final-status';
import { abortable } from '#lib/util/abortable';
import { pause } from '../../base/clock.ts';
import { beginModelRequest } from '../../telemetry/room.ts';
import type { MessageWriter, TurnEnd, TurnRequest } from './agent.ts';
import {
  ANSWER_CUT,
  ANSWER_FILTERED,
  describeModelError,
  internalError,
  type Notice,
  notice,
  toolsUnfit,
} from './notices.ts';
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
import type { UnfitTool } from './tools.ts';
import {
  emptyAnswersAtEnd,
  isUnread,
  messagesRead,
  type Turn,
  type TurnDeps,
  untilFinal,
} from './turn.ts';
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
    const end = await runStep(turn, step);
    if (end) return end;
    // The person said more meanwhile: the limits count from there.
    if (isUnread(request.transcript.messages())) step = 0;
  }
}

/** Undefined when there is another step to do: the model called tools, or answered with nothing. */
async function runStep(turn: Turn, step: number): Promise<TurnEnd | undefined> {
  const writer = await turn.transcript.beginMessage();
  let calls: StepCalls | undefined;
  try {
    const plan = await abortable(turn.signal, planStep(turn, step));
    const completed = completedWith(turn, plan.records);
    if (completed !== undefined) return await endCompleted(writer, completed);
    const { ending, progress } = plan;
    if (ending && ending.words === undefined) {
      return await endWith(writer, { notice: ending.notice, end: { status: 'idle' } });
    }
    calls = new StepCalls(turn, writer, progress);
    const end = await askModel(turn, { step, plan, writer, calls });
    const started = calls.finish(end.finishReason === 'length');
    noteLeftOut(turn, end, { writer, calls });
    if (started.length === 0) return await endStep(turn, { writer, end, ending });
    // The calls stand in the history before anything waits for them: a crash loses none.
    await writer.end(turn.model.ref);
    await waitForCalls(turn, started);
    return undefined;
  } catch (error) {
    return await endBroken(turn, error, { writer, calls });
  }
}

/** One step writes these. */
interface Writing {
  readonly writer: MessageWriter;
  readonly calls: StepCalls;
}

interface Asking extends Writing {
  readonly step: number;
  readonly plan: StepPlan;
}

interface Asked extends StepEnd {
  readonly offered: number;
  readonly leftOut: number;
  readonly unfit: readonly UnfitTool[];
  readonly messagesLeftOut: number;
}

async function askModel(turn: Turn, asking: Asking): Promise<Asked> {
  const { deps, signal } = turn;
  const first = await prepareRequest(turn, asking.plan);
  let request = first;
  for (let failures = 0, isFirst = true; ; isFirst = false) {
    const { prompt, described, lesson } = request;
    const beginsStep = !asking.plan.ending && isFirst;
    const log = await asking.writer.beginRequest({
      ...described,
      step: asking.step,
      beginsStep,
      model: turn.model.ref,
    });
    const trace = beginModelRequest(deps.spans, {
      runId: turn.runId,
      model: turn.model.ref,
      parent: turn.traceparent,
      startedAt: deps.clock.now(),
    });
    try {
      const end = await streamStep({
        model: request.model,
        instructions: prompt.instructions,
        messages: prompt.messages,
        tools: prompt.tools,
        signal,
        calls: asking.calls,
        writer: asking.writer,
        clock: deps.clock,
        onAnswered: log.answered,
        traceparent: trace.traceparent,
      });
      log.end(end);
      trace.end(end);
      const refused = refusedNotices(turn.model.ref, first.lesson, lesson);
      return takeAnswer(turn, request, { end, refused, writer: asking.writer });
    } catch (error) {
      // Not written where the server stops, as nothing is: the request is left as by a crash.
      const ended = { errorCode: errorCodeOf(turn, error) };
      log.end(ended);
      trace.end(ended);
      const isSilent = error instanceof StepFailedError && error.isSilent;
      const mayMend = isSilent && !signal.aborted;
      const mended = mayMend && (await withoutRefused(turn, asking.plan, request, error.cause));
      if (mended) {
        request = mended;
        await log.write();
        continue;
      }
      failures += 1;
      const delay = delayAfter(error, failures, deps.maxRetries);
      if (delay === undefined) throw error;
      await log.write();
      await abortable(signal, pause(deps.clock, delay));
    }
  }
}

const delayAfter = (error: unknown, failures: number, maxRetries: number): number | undefined =>
  error instanceof StepFailedError && error.isSilent
    ? retryDelay(error.cause, failures, maxRetries)
    : undefined;

interface AnsweredRequest {
  readonly end: StepEnd;
  readonly refused: readonly Notice[];
  readonly writer: MessageWriter;
}

function takeAnswer(
  turn: Turn,
  { prompt, described, lesson }: PreparedRequest,
  { end, refused, writer }: AnsweredRequest,
): Asked {
  turn.spending.tookTokens((end.usage.input_tokens ?? 0) + (end.usage.output_tokens ?? 0));
  turn.deps.lessons.keep(turn.model.ref, turn.runId, lesson);
  for (const notice of refused) writer.addNotice(notice);
  const { leftOut, unfit, messagesLeftOut } = prompt;
  return { ...end, offered: described.toolsOffered, leftOut, unfit, messagesLeftOut };
}

const errorCodeOf = ({ signal, model }: Turn, error: unknown): string =>
  signal.aborted ? 'cancelled' : describeFailure(error, model.ref).code;

/** People could not see otherwise which messages the model was not sent, which tools it was not offered, and which calls it made in vain. */
function noteLeftOut(turn: Turn, end: Asked, { writer, calls }: Writing): void {
  const { ref } = turn.model;
  const once = (notice: Notice) => {
    if (!turn.noted.has(notice.code)) writer.addNotice(notice);
    turn.noted.add(notice.code);
  };
  const { offered, leftOut, messagesLeftOut: count } = end;
  if (leftOut > 0) once(notice('tools_left_out', { offered, available: offered + leftOut }));
  if (count > 0) once(notice('history_left_out', { count, model: ref }));
  const [unfit, ...others] = end.unfit;
  if (unfit) once(toolsUnfit(ref, unfit, others.length));
  if (calls.leftOut > 0)
    writer.addNotice(notice('calls_left_out', { count: calls.leftOut, limit: MOST_CALLS }));
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

interface Answer {
  readonly writer: MessageWriter;
  readonly end: StepEnd;
  readonly ending: Ending | undefined;
}

/** A step without calls is the turn's answer, unless it is empty and may be asked for again. */
async function endStep(turn: Turn, { writer, end, ending }: Answer): Promise<TurnEnd | undefined> {
  const isCut = end.finishReason === 'length' || end.finishReason === 'content-filter';
  const isEmpty = end.isWordless && !isCut && !ending;
  const empty = isEmpty ? 1 + emptyAnswersAtEnd(messagesRead(turn)) : 0;
  const { toolInText: tool } = end;
  const model = turn.model.ref;
  if (tool !== undefined) writer.addNotice(notice('calls_as_text', { tool, model }));
  if (empty >= MOST_EMPTY) writer.addNotice(notice('empty_answers', { count: empty }));
  if (ending) writer.addNotice(ending.notice);
  if (end.finishReason === 'length') writer.addNotice(ANSWER_CUT);
  if (end.finishReason === 'content-filter') writer.addNotice(ANSWER_FILTERED);
  await writer.end(model);
  return isEmpty && empty < MOST_EMPTY ? undefined : { status: 'idle' };
}

/** The result is the turn's answer: who reads the last message, reads it. */
async function endCompleted(writer: MessageWriter, words: string): Promise<TurnEnd> {
  writer.append('text', words);
  await writer.end();
  return { status: 'idle' };
}

/** Every way in which a step breaks ends here: each call has a record, and the person a notice. */
async function endBroken(
  turn: Turn,
  error: unknown,
  { writer, calls }: { readonly writer: MessageWriter; readonly calls: StepCalls | undefined },
): Promise<TurnEnd> {
  const { signal, deps } = turn;
  const words = signal.aborted ? stoppedWords(signal) : 'The model failed.';
  const running = calls?.abandon(`${words} The arguments were not complete.`) ?? [];
  // The next start goes on as after a crash: what is not on disk was never said.
  if (isShuttingDown(signal)) return { status: 'suspended' };
  const asked = Promise.all(running.map((call) => cancelCall(turn, call, words)));
  // A call that a hook still looks at is no call yet: the person does not wait for that.
  await Promise.race([asked, pause(deps.clock, ASKED_MS)]);
  if (signal.aborted) return endWith(writer, stoppedEnd(signal));
  if (!(error instanceof StepFailedError))
    deps.logger.error(error, 'A turn failed', undefined, { run_id: turn.runId });
  return endWith(writer, failedEnd(describeFailure(error, turn.model.ref)));
}

/** So long a turn that ends waits until its calls are asked to stop. */
const ASKED_MS = 1_000;

const describeFailure = (error: unknown, model: string) =>
  error instanceof StepFailedError ? describeModelError(error.cause, model) : internalError(error);

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
