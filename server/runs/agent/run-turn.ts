import type { CallRecord } from '#lib/call/call-record';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { LIMITS } from '#lib/protocol/limits';
import type { Message } from '#lib/protocol/run';
import { abortable } from '#lib/util/abortable';
import type { CallService, DraftCall } from '../../calls/call-service.ts';
import type { Clock } from '../../clock.ts';
import type { ToolRegistry } from '../../tools/tool-registry.ts';
import {
  CANCELLED,
  type MessageWriter,
  SHUTTING_DOWN,
  type TurnEnd,
  type TurnRequest,
} from './agent.ts';
import { buildModelHistory, type ModelImage } from './build-model-history.ts';
import { chooseTools } from './choose-tools.ts';
import { describeModelError, internalError } from './describe-model-error.ts';
import { lastAnswerInstructions, stepInstructions } from './instructions.ts';
import { type ImageSource, loadImages } from './load-images.ts';
import { createModelTools, type ModelTools } from './model-tools.ts';
import {
  ANSWER_CUT,
  ANSWER_FILTERED,
  callsLeftOut,
  failure,
  STOPPED,
  stepLimit,
  toolsLeftOut,
} from './notices.ts';
import { retryDelay } from './retry-delay.ts';
import { createStepCalls, MOST_CALLS, type StartedCall, type StepCalls } from './step-calls.ts';
import { type StepEnd, StepFailedError, streamStep } from './stream-step.ts';

export interface TurnDeps {
  readonly calls: CallService;
  readonly registry: Pick<ToolRegistry, 'list'>;
  readonly clock: Clock;
  readonly images: ImageSource;
  readonly maxSteps: number;
  /** How often a request that failed with 429 or 5xx is made again. */
  readonly maxRetries: number;
  /** A model that says nothing for so long is given up. */
  readonly silentMs: number;
  /** What must not happen and stops nobody; for the log. */
  readonly onDefect: (error: unknown) => void;
}

/** What one turn knows and its steps share. */
interface Turn extends TurnRequest {
  readonly deps: TurnDeps;
  /** Final records, read once. */
  readonly finals: Map<string, CallRecord>;
  readonly scaled: Map<string, ModelImage>;
  /** Codes of what was said once and is not said again. */
  readonly noted: Set<string>;
}

/**
 * One turn: the model is asked, its calls are run, until it answers without one
 * (rules AL1 to AL15). All there is to know between two steps is on disk: the
 * history is rebuilt from messages and records before each.
 */
export async function runTurn(deps: TurnDeps, request: TurnRequest): Promise<TurnEnd> {
  const turn: Turn = { ...request, deps, finals: new Map(), scaled: new Map(), noted: new Set() };
  for (let step = (request.stepsDone ?? 0) + 1; step <= deps.maxSteps; step += 1) {
    const end = await runStep(turn, step);
    if (end) return end;
  }
  return (await runStep(turn, deps.maxSteps + 1)) ?? { status: 'idle' };
}

/** Undefined when the model called tools, so that there is another step to do. */
async function runStep(turn: Turn, step: number): Promise<TurnEnd | undefined> {
  const { deps, transcript } = turn;
  const isLast = step > deps.maxSteps;
  if (!isLast) await transcript.beginStep(step);
  const writer = transcript.beginMessage();
  const calls = createStepCalls({
    clock: deps.clock,
    draft: (tool) =>
      deps.calls.draft({
        principal: turn.principal,
        requestedBy: actorOf(turn),
        runId: turn.runId,
        tool,
        fromClientId: askedFrom(turn),
      }),
    onDraft: (callId) => writer.addCall(callId),
    giveUp: (draft, message) => giveUp(turn, draft, message),
  });
  try {
    const end = await askModel(turn, { isLast, writer, calls });
    const started = calls.finish();
    noteLeftOut(turn, { end, writer, calls });
    if (started.length === 0) return await endTurn(turn, { writer, end, isLast });
    // The calls stand in the history before anything waits for them: a crash loses none.
    await writer.end();
    await waitForCalls(turn, started);
    return undefined;
  } catch (error) {
    return await endBroken(turn, { error, writer, calls });
  }
}

interface Asking {
  readonly isLast: boolean;
  readonly writer: MessageWriter;
  readonly calls: StepCalls;
}

interface Asked extends StepEnd {
  readonly offered: number;
  readonly leftOut: number;
}

async function askModel(turn: Turn, { isLast, writer, calls }: Asking): Promise<Asked> {
  const { deps, signal } = turn;
  const records = await abortable(signal, readCalls(turn));
  // Read anew for each step: clients come and go.
  const { offered, leftOut } = offeredTools(turn, records);
  const modelTools = createModelTools(offered);
  const messages = await abortable(signal, historyFor(turn, records, modelTools));
  for (let failures = 1; ; failures += 1) {
    try {
      const end = await streamStep({
        model: turn.model,
        instructions: isLast
          ? lastAnswerInstructions(deps.maxSteps)
          : stepInstructions(offered.length, leftOut),
        messages,
        tools: isLast ? null : modelTools,
        calls,
        writer,
        signal,
        clock: deps.clock,
        silentMs: deps.silentMs,
      });
      return { ...end, offered: offered.length, leftOut: isLast ? 0 : leftOut };
    } catch (error) {
      const delay =
        error instanceof StepFailedError && error.saidNothing
          ? retryDelay(error.cause, failures, deps.maxRetries)
          : undefined;
      if (delay === undefined) throw error;
      await abortable(signal, pause(deps.clock, delay));
    }
  }
}

const pause = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.schedule(ms, resolve);
  });

/** The client whose person sent the message that this turn answers. It is on disk with that message. */
const askedFrom = ({ transcript }: Turn): string | undefined =>
  transcript.messages().findLast(({ role }) => role === 'user')?.client_id;

function offeredTools(turn: Turn, records: readonly CallRecord[]) {
  const allowed = turn.tools === null ? undefined : new Set(turn.tools);
  const callable = turn.deps.registry
    .list(turn.principal, askedFrom(turn))
    .filter((tool) => tool.callable && (!allowed || allowed.has(tool.name)));
  return chooseTools(callable, {
    most: turn.model.maxTools,
    text: lastWords(turn.transcript.messages()),
    recent: records.map(({ toolName }) => toolName),
    clientId: askedFrom(turn) ?? null,
  });
}

const lastWords = (messages: readonly Message[]): string =>
  (messages.findLast(({ role }) => role === 'user')?.parts ?? [])
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n');

interface LeftOut {
  readonly end: Asked;
  readonly writer: MessageWriter;
  readonly calls: StepCalls;
}

/** What people could not see otherwise: tools that the model was not offered, calls that it made in vain. */
function noteLeftOut(turn: Turn, { end, writer, calls }: LeftOut): void {
  if (end.leftOut > 0 && !turn.noted.has('tools_left_out')) {
    turn.noted.add('tools_left_out');
    writer.addNotice(toolsLeftOut(end.offered, end.offered + end.leftOut));
  }
  if (calls.leftOut > 0) writer.addNotice(callsLeftOut(calls.leftOut, MOST_CALLS));
}

/** The records of all calls that the messages name, in order. */
async function readCalls(turn: Turn): Promise<CallRecord[]> {
  const callIds = turn.transcript
    .messages()
    .flatMap((message) => message.parts)
    .flatMap((part) => (part.type === 'tool_call' ? [part.tool_call_id] : []));
  const records = await Promise.all(callIds.map((id) => readCall(turn, id)));
  return records.filter((record) => record !== undefined);
}

async function historyFor(turn: Turn, records: readonly CallRecord[], modelTools: ModelTools) {
  const { imageWay } = turn.model;
  const images =
    imageWay === 'none' ? new Map() : await loadImages(records, turn.deps.images, turn.scaled);
  return buildModelHistory({
    messages: turn.transcript.messages(),
    calls: new Map(records.map((record) => [record.id, record])),
    images,
    imageWay,
    toModelName: modelTools.toModelName,
  });
}

async function readCall(turn: Turn, callId: string): Promise<CallRecord | undefined> {
  const final = turn.finals.get(callId);
  if (final) return final;
  const record = await turn.deps.calls.get(callId);
  if (record && isFinalStatus(record.status)) turn.finals.set(callId, record);
  return record;
}

const waitForCalls = (turn: Turn, started: readonly StartedCall[]): Promise<unknown> =>
  abortable(turn.signal, Promise.all(started.map((call) => waitForCall(turn, call))));

/** Until it is final, however long a person takes; a call that is gone is nothing to wait for. */
async function waitForCall(turn: Turn, { callId, recorded }: StartedCall): Promise<void> {
  let record: CallRecord | undefined = await recorded;
  while (record && !isFinalStatus(record.status) && !turn.signal.aborted) {
    record = await turn.deps.calls.wait(callId, LIMITS.waitMs, turn.signal);
  }
}

interface Answer {
  readonly writer: MessageWriter;
  readonly end: StepEnd;
  readonly isLast: boolean;
}

async function endTurn(turn: Turn, { writer, end, isLast }: Answer): Promise<TurnEnd> {
  const { maxSteps } = turn.deps;
  if (isLast) writer.addNotice(stepLimit(maxSteps));
  if (end.finishReason === 'length') writer.addNotice(ANSWER_CUT);
  if (end.finishReason === 'content-filter') writer.addNotice(ANSWER_FILTERED);
  await writer.end();
  return { status: 'idle' };
}

interface Broken {
  readonly error: unknown;
  readonly writer: MessageWriter;
  readonly calls: StepCalls;
}

/** Every way in which a step breaks ends here: each call has a record, and the person is told. */
async function endBroken(turn: Turn, { error, writer, calls }: Broken): Promise<TurnEnd> {
  const { signal, deps } = turn;
  const words = signal.aborted ? 'The run was stopped.' : 'The model failed.';
  const running = calls.abandon(`${words} The arguments were not complete.`);
  // As after a crash: what is not on disk was never said, and the next start goes on from there.
  if (isShuttingDown(signal)) return { status: 'suspended' };
  for (const call of running) cancelCall(turn, call, words);
  if (signal.aborted) {
    writer.addNotice(STOPPED);
    await writer.end();
    return { status: 'cancelled' };
  }
  if (!(error instanceof StepFailedError)) deps.onDefect(error);
  const described = describeFailure(error, turn.model.ref);
  writer.addNotice(failure(described));
  await writer.end();
  return { status: 'failed', error: described };
}

const isShuttingDown = (signal: AbortSignal): boolean =>
  signal.aborted && signal.reason === SHUTTING_DOWN;

const describeFailure = (error: unknown, model: string) =>
  error instanceof StepFailedError ? describeModelError(error.cause, model) : internalError(error);

const actorOf = ({ runId }: Turn): string => `run:${runId}`;

/** What a person stopped is cancelled, not wrong; what the model left unfinished is. */
async function giveUp(turn: Turn, draft: DraftCall, message: string): Promise<CallRecord> {
  if (isShuttingDown(turn.signal)) {
    const left = await turn.deps.calls.get(draft.callId);
    if (left) return left;
  }
  if (turn.signal.aborted && turn.signal.reason === CANCELLED) {
    const outcome = await turn.deps.calls.cancel(draft.callId, message, actorOf(turn));
    if (outcome.ok) return outcome.call;
  }
  return draft.abandon(message, { reason: 'arguments_incomplete' });
}

/** Not waited for: a client may take its time to stop, the person should not. */
function cancelCall(turn: Turn, { callId, recorded }: StartedCall, reason: string): void {
  recorded
    .then((record) => {
      if (isFinalStatus(record.status)) return undefined;
      return turn.deps.calls.cancel(callId, reason, actorOf(turn));
    })
    .catch(turn.deps.onDefect);
}
