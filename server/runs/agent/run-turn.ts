import type { Call } from '#lib/call/call';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { abortable } from '#lib/util/abortable';
import { pause } from '../../base/clock.ts';
import type { DraftCall } from '../../calls/room.ts';
import { type MessageWriter, SHUTTING_DOWN, type TurnEnd, type TurnRequest } from './agent.ts';
import { describeModelError, internalError } from './describe-model-error.ts';
import type { UnfitTool } from './model-tools.ts';
import { ANSWER_CUT, ANSWER_FILTERED, type Notice, notice, toolsUnfit } from './notices.ts';
import { planStep, type StepPlan } from './prepare-prompt.ts';
import {
  beginRequestTrace,
  prepareRequest,
  refusedNotices,
  retryDelay,
  withoutRefused,
} from './prepare-request.ts';
import { Spending } from './spending.ts';
import { MOST_CALLS, type StartedCall, StepCalls } from './step-calls.ts';
import { type StepEnd, StepFailedError, streamStep } from './stream-step.ts';
import {
  actingFor,
  askedFrom,
  emptyAnswersAtEnd,
  isUnread,
  messagesRead,
  type Turn,
  type TurnDeps,
  untilFinal,
} from './turn.ts';
import {
  completedWith,
  type Ending,
  endsTurn,
  endWith,
  failedEnd,
  stoppedEnd,
  stoppedWords,
  stopperOf,
} from './turn-ending.ts';
import { callKey, type TurnProgress } from './turn-progress.ts';

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
  const { deps, transcript } = turn;
  const writer = await transcript.beginMessage();
  let progress: TurnProgress | undefined;
  const calls = new StepCalls({
    clock: deps.clock,
    isRepeated: (toolName, args) => progress?.isRepeated(toolName, args) ?? false,
    onWritten: (callId, toolName, args) => turn.written.set(callId, callKey(toolName, args)),
    draft: (tool, modelId) =>
      deps.calls.draft({
        principal: actingFor(turn),
        runId: turn.runId,
        tool,
        fromClientId: askedFrom(turn),
        parent: turn.delegated,
        traceparent: turn.traceparent,
        modelCallId: writer.ownId(modelId),
      }),
    endsTurn: (toolName) => endsTurn(deps.registry, toolName),
    takeCall: () => turn.spending.takeCall(),
    onDraft: (callId, modelId) => writer.addCall(callId, modelId),
    onDescribed: (callId, metadata) => writer.describeCall(callId, metadata),
    giveUp: (draft, message) => giveUp(turn, draft, message),
  });
  try {
    const plan = await abortable(turn.signal, planStep(turn, step));
    const completed = completedWith(turn, plan.records);
    if (completed !== undefined) return await endCompleted(writer, completed);
    const { ending } = plan;
    ({ progress } = plan);
    if (ending && ending.words === undefined) {
      return await endWith(writer, { notice: ending.notice, end: { status: 'idle' } });
    }
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

/** What one step writes. */
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
    const trace = beginRequestTrace(turn);
    try {
      const { instructions, messages, tools } = prompt;
      const end = await streamStep({
        model: request.model,
        instructions,
        messages,
        tools,
        signal,
        calls: asking.calls,
        writer: asking.writer,
        clock: deps.clock,
        onAnswered: log.answered,
        traceparent: trace.traceparent,
      });
      log.end(end);
      trace.end(end);
      turn.spending.tookTokens((end.usage.input_tokens ?? 0) + (end.usage.output_tokens ?? 0));
      deps.lessons.keep(turn.model.ref, turn.runId, lesson);
      const refused = refusedNotices(turn.model.ref, first.lesson, lesson);
      for (const notice of refused) asking.writer.addNotice(notice);
      const { leftOut, unfit, messagesLeftOut } = prompt;
      return { ...end, offered: described.toolsOffered, leftOut, unfit, messagesLeftOut };
    } catch (error) {
      // Not written where the server stops, as nothing is: the request is left as by a crash.
      const ended = { errorCode: errorCodeOf(turn, error) };
      log.end(ended);
      trace.end(ended);
      const isSilent = error instanceof StepFailedError && error.isSilent;
      const mended =
        isSilent &&
        !signal.aborted &&
        (await withoutRefused(turn, asking.plan, request, error.cause));
      if (mended) {
        request = mended;
        await log.write();
        continue;
      }
      failures += 1;
      const delay = isSilent ? retryDelay(error.cause, failures, deps.maxRetries) : undefined;
      if (delay === undefined) throw error;
      await log.write();
      await abortable(signal, pause(deps.clock, delay));
    }
  }
}

const errorCodeOf = ({ signal, model }: Turn, error: unknown): string =>
  signal.aborted ? 'cancelled' : describeFailure(error, model.ref).code;

/** What people could not see otherwise: messages that the model was not sent, tools that it was not offered, calls that it made in vain. */
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

/** What `recorded` gives may be decided and not written yet: their ends are waited for on disk. */
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

/** Of a step without calls: the turn has its answer, unless that is empty and may be asked for again. */
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
async function endBroken(turn: Turn, error: unknown, { writer, calls }: Writing): Promise<TurnEnd> {
  const { signal, deps } = turn;
  const words = signal.aborted ? stoppedWords(signal) : 'The model failed.';
  const running = calls.abandon(`${words} The arguments were not complete.`);
  // As after a crash: what is not on disk was never said, and the next start goes on from there.
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

const isShuttingDown = (signal: AbortSignal): boolean =>
  signal.aborted && signal.reason === SHUTTING_DOWN;

const describeFailure = (error: unknown, model: string) =>
  error instanceof StepFailedError ? describeModelError(error.cause, model) : internalError(error);

const actorOf = ({ runId }: Turn): string => `run:${runId}`;

/** What a person stopped is cancelled, not wrong; what the model left unfinished is. */
async function giveUp(turn: Turn, draft: DraftCall, message: string): Promise<Call> {
  if (isShuttingDown(turn.signal)) {
    const left = await turn.deps.calls.get(draft.callId);
    if (left) return left;
  }
  if (turn.signal.aborted && !isShuttingDown(turn.signal)) {
    const outcome = await turn.deps.calls.cancel(
      draft.callId,
      message,
      actorOf(turn),
      stopperOf(turn.signal),
    );
    if (outcome.ok) return outcome.call;
  }
  return draft.abandon(message, { reason: 'arguments_incomplete' });
}

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
