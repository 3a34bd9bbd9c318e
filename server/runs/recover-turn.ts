import type { CallRecord } from '#lib/call/call-record';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { LIMITS } from '#lib/protocol/limits';
import type { Message } from '#lib/protocol/run';
import { abortable } from '#lib/util/abortable';
import type { CallService } from '../calls/call-service.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { type MessageWriter, SHUTTING_DOWN, type TurnEnd } from './agent/agent.ts';
import type { TurnError } from './agent/describe-model-error.ts';
import { failure, type Notice } from './agent/notices.ts';
import { stoppedEnd, stoppedWords, stopperOf } from './agent/stopped-end.ts';
import { namedCalls } from './agent/turn-messages.ts';
import { canGoOn, endedTurn, RESTARTED, stepsDone } from './interrupted-turn.ts';
import type { LiveRun } from './live-run.ts';

const GOES_ON: Notice = {
  code: RESTARTED,
  text: 'The server was restarted meanwhile. The turn goes on from here.',
};

const INTERRUPTED: TurnError = {
  code: 'interrupted',
  message:
    'The server was restarted several times during the same step of this turn. Send a message to go on.',
};

/** Of `clientsReturnMs` each. */
const CALLER_WAITS = 5;

/** More calls than one step records: what is open or lost belongs to the last step. */
const MOST_CALLS = 200;

export interface RecoverTurnDeps {
  readonly calls: CallService;
  readonly clock: Clock;
  /** Clients find their server again within this; a model that is asked before would miss their tools. */
  readonly clientsReturnMs: number;
  /** Whether this client is connected and offers tools. */
  offersTools(clientId: string): boolean;
  readonly logger: Logger;
  /** The model is asked again, as step number `stepsDone` + 1. */
  readonly goOn: (stepsDone: number, signal: AbortSignal) => Promise<TurnEnd>;
}

/**
 * Takes up a turn that a restart cut short (rules RU10 to RU13). Its calls
 * survived and are waited for; then the model is asked again with what is on
 * disk. What it had said of an unfinished step is gone, as if never said.
 */
export async function recoverTurn(
  run: LiveRun,
  deps: RecoverTurnDeps,
  signal: AbortSignal,
): Promise<TurnEnd> {
  const over = endedTurn(run.messages());
  if (over) return over;
  const calls = await callsOf(run, deps.calls);
  const named = namedCalls(run.messages());
  const mayGoOn = canGoOn(run.messages());
  const writer = await run.beginMessage();
  // Recorded, and lost from the message that was being written.
  for (const call of calls) if (!named.has(call.id)) writer.addCall(call.id);
  // Seen at once: until its calls and their clients are back, nothing else is.
  if (mayGoOn) writer.addNotice(GOES_ON);
  const open = calls.filter((call) => !isFinalStatus(call.status));
  try {
    await abortable(signal, Promise.all(open.map((call) => waitFor(call, deps.calls, signal))));
    if (mayGoOn) await abortable(signal, clientsReturn(deps, askedFrom(run.messages()), signal));
  } catch (error) {
    if (!signal.aborted) throw error;
    return stopped(writer, open, deps, signal);
  }
  if (!mayGoOn) {
    writer.addNotice(failure(INTERRUPTED));
    await writer.end();
    return { status: 'failed', error: INTERRUPTED };
  }
  // On disk before the model is asked, so that a server that dies of it counts how often.
  await writer.end();
  return deps.goOn(stepsDone(run.messages()), signal);
}

async function stopped(
  writer: MessageWriter,
  open: readonly CallRecord[],
  deps: RecoverTurnDeps,
  signal: AbortSignal,
): Promise<TurnEnd> {
  if (signal.reason === SHUTTING_DOWN) return { status: 'suspended' };
  for (const { id, runId } of open) {
    const by = stopperOf(signal);
    deps.calls.cancel(id, stoppedWords(signal), `run:${runId}`, by).catch(deps.logger.error);
  }
  const { notice, end } = stoppedEnd(signal);
  writer.addNotice(notice);
  await writer.end();
  return end;
}

/** Those of the run's own agent, oldest first; not what a person retried by hand. */
export async function callsOf(run: LiveRun, calls: CallService): Promise<CallRecord[]> {
  const { calls: found } = await calls.list({ runId: run.runId, limit: MOST_CALLS });
  // Those of before are named in messages that may not be in memory.
  const from = run.older > 0 ? (run.messages()[0]?.created_at ?? 0) * 1000 - 1 : 0;
  const own = found.filter(
    ({ requestedBy, retryOf, createdAt }) =>
      requestedBy === `run:${run.runId}` && !retryOf && createdAt >= from,
  );
  return own.toSorted((a, b) => a.createdAt - b.createdAt);
}

async function waitFor(call: CallRecord, calls: CallService, signal: AbortSignal): Promise<void> {
  let record: CallRecord | undefined = call;
  while (record && !isFinalStatus(record.status) && !signal.aborted) {
    record = await calls.wait(call.id, LIMITS.waitMs, signal);
  }
}

/**
 * Every client gets a moment. The one in which the person asked is waited for longer: a tab that
 * has tried in vain for a while tries less often, and the turn is about its tools.
 */
async function clientsReturn(
  { clock, clientsReturnMs, offersTools }: RecoverTurnDeps,
  caller: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  for (let waits = 0; waits < CALLER_WAITS && !signal.aborted; waits += 1) {
    if (waits > 0 && (caller === undefined || offersTools(caller))) return;
    await pause(clock, clientsReturnMs);
  }
}

const askedFrom = (messages: readonly Message[]): string | undefined =>
  messages.findLast(({ role }) => role === 'user')?.client_id;

const pause = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.schedule(ms, resolve);
  });
