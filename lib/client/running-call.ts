import type { ClientMessage } from '../protocol/client-messages.ts';
import { LIMITS } from '../protocol/limits.ts';
import type { ServerMessageOf } from '../protocol/server-messages.ts';
import { abortable } from '../util/abortable.ts';
import { errorMessage } from '../util/error-message.ts';
import { given } from '../util/given.ts';
import {
  type ClientToolContext,
  type ClientToolDefinition,
  isRepeatable,
  type StatusUpdate,
  ToolFailure,
  toToolFailure,
} from './client-tool.ts';
import { encodeAnswer, encodeFailure, type UploadBlob } from './encode-answer.ts';
import type { CallAnswer, Journal } from './journal.ts';
import { createStatusThrottle, type StatusFields, type StatusThrottle } from './status-throttle.ts';
import type { ClientEnvironment } from './transports.ts';

const TIP_CHARS = 2_000;

interface CallContext extends ClientToolContext {
  /** After a new connection: sends again what the server may not have received. */
  resendStatus(): void;
}

/** Makes the context of one running call from its clock, its signal and its status updates. */
function createCallContext(
  { request: { id, run_id, requested_by }, onProblem }: StartCallOptions,
  signal: AbortSignal,
  clock: ExecuteClock,
  statusUpdates: StatusThrottle,
): CallContext {
  let asking = 0;

  const sendPhase = (phase: 'device' | 'granted') => {
    statusUpdates.push({ phase });
    statusUpdates.flush();
  };

  return {
    callId: id,
    runId: run_id,
    requestedBy: requested_by,
    signal,
    status(update) {
      const fields = toStatusFields(update);
      if (JSON.stringify(fields).length <= LIMITS.statusBytes) return statusUpdates.push(fields);
      onProblem(`${id}: a status of more than ${LIMITS.statusBytes} bytes was cut to its tip`);
      if (fields.tip !== undefined) statusUpdates.push({ tip: fields.tip });
    },
    async askDevice(ask) {
      signal.throwIfAborted();
      asking += 1;
      clock.pause();
      if (asking === 1) sendPhase('device');
      try {
        return await abortable(signal, ask());
      } finally {
        asking -= 1;
        clock.resume();
        if (asking === 0) sendPhase('granted');
      }
    },
    resendStatus() {
      if (asking > 0) statusUpdates.push({ phase: 'device' });
      statusUpdates.flush();
    },
  };
}

function toStatusFields({ tip, progress, preview, params }: StatusUpdate): StatusFields {
  return {
    ...given({ tip: tip?.slice(0, TIP_CHARS), progress, preview }),
    ...(params && { params: { ...params } }),
  };
}

export interface RunningCall {
  /** The attempt that the answer and the status updates name. */
  attempt: number;
  abort(failure: ToolFailure): void;
  /** After a new connection: sends again what the server may not have received. */
  resendStatus(): void;
  /** The answer, once the tool has ended. Never rejects. */
  readonly ended: Promise<CallAnswer>;
}

/** The parts of one client instance share these. */
export interface InstanceParts {
  readonly instanceId: string;
  readonly journal: Journal;
  readonly environment: Pick<ClientEnvironment, 'now' | 'schedule'>;
  findTool(name: string): ClientToolDefinition | undefined;
  /** False when there is no connection. */
  send(message: ClientMessage): boolean;
  readonly uploadBlob: UploadBlob | undefined;
  readonly onProblem: (message: string) => void;
}

interface StartCallOptions extends InstanceParts {
  readonly request: ServerMessageOf<'tool_call_request'>;
  readonly tool: ClientToolDefinition | undefined;
  /** So much is left of the time that was granted. */
  readonly remainingMs: number;
}

/** Runs a granted call: `started` into the journal first, then the tool, until it has ended. */
export function startCall(options: StartCallOptions): RunningCall {
  const { request, remainingMs, environment, send } = options;
  const controller = new AbortController();
  const abort = (failure: ToolFailure) => controller.abort(failure);
  const clock = createExecuteClock({
    remainingMs,
    environment,
    onExpire: () => abort(timeIsOver(request)),
  });
  const statusUpdates = createStatusThrottle({
    environment,
    send: (fields) =>
      send({ type: 'tool_status', id: request.id, attempt: call.attempt, ...fields }),
  });
  const context = createCallContext(options, controller.signal, clock, statusUpdates);
  const ended = answerCall(options, context, clock).finally(() => {
    clock.stop();
    statusUpdates.flush();
    statusUpdates.close();
  });
  const call: RunningCall = {
    attempt: request.attempt,
    abort,
    resendStatus: context.resendStatus,
    ended,
  };
  return call;
}

async function answerCall(
  options: StartCallOptions,
  context: CallContext,
  clock: ExecuteClock,
): Promise<CallAnswer> {
  const { request, tool } = options;
  try {
    if (!tool) throw noSuchTool(request.name);
    // guard: start-in-journal-before-tool
    await rememberStart(options, tool);
    // A frozen program may wake up here, with no timer fired and the time long over (CL8).
    if (clock.expired) throw timeIsOver(request);
    context.signal.throwIfAborted();
    const answer = await tool.run(request.args, context);
    return await encodeAnswer(request, answer, options);
  } catch (thrown) {
    return encodeFailure(request, whyItFailed(thrown, context.signal));
  }
}

/** The journal first: without it, a tool with effects could run twice after a crash. */
async function rememberStart(
  { journal, request, onProblem }: StartCallOptions,
  tool: ClientToolDefinition,
): Promise<void> {
  const repeatable = isRepeatable(tool);
  const { id, attempt } = request;
  try {
    await journal.put({ id, attempt, tool: tool.name, repeatable, answer: null });
  } catch (error) {
    onProblem(`${id}: the start could not be written to the journal: ${errorMessage(error)}`);
    if (repeatable) return;
    throw new ToolFailure(
      'unavailable',
      `${tool.name} was not run: this client cannot write its journal, which keeps it from running twice.`,
    );
  }
}

/** An abort explains itself better than what the tool made of it. */
function whyItFailed(thrown: unknown, signal: AbortSignal): ToolFailure {
  if (thrown instanceof ToolFailure || !signal.aborted) return toToolFailure(thrown);
  return toToolFailure(signal.reason);
}

const noSuchTool = (name: string): ToolFailure =>
  new ToolFailure('unavailable', `This client no longer offers ${name}.`);

const timeIsOver = ({ name }: { name: string }): ToolFailure =>
  new ToolFailure('timeout', `The time for ${name} was over before it had ended.`);

/** Counts down the time that a granted call has, and calls `onExpire` once when it is over. */
function createExecuteClock({
  remainingMs,
  onExpire,
  environment: { now, schedule },
}: {
  remainingMs: number;
  onExpire: () => void;
  environment: Pick<ClientEnvironment, 'now' | 'schedule'>;
}) {
  let left = remainingMs;
  let startedAt = now();
  let pauses = 0;
  let stopped = false;
  let stopTimer = schedule(Math.max(0, left), onExpire);

  return {
    /** Stops counting. Pauses nest: it goes on after as many `resume`. */
    pause() {
      pauses += 1;
      if (pauses > 1) return;
      stopTimer();
      left -= now() - startedAt;
    },
    resume() {
      pauses -= 1;
      if (pauses > 0 || stopped) return;
      startedAt = now();
      stopTimer = schedule(Math.max(0, left), onExpire);
    },
    /** True once the time is over, also when the program was frozen and no timer fired. */
    get expired() {
      return left - (pauses > 0 ? 0 : now() - startedAt) <= 0;
    },
    stop() {
      stopped = true;
      stopTimer();
    },
  };
}

type ExecuteClock = ReturnType<typeof createExecuteClock>;
