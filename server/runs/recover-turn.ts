import type { Call } from '#lib/call/call';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { INFORMING_NOTICES, NOTICES_OF_GOOD_ENDS } from '#lib/protocol/notice-codes';
import type { Message } from '#lib/protocol/run';
import { abortable } from '#lib/util/abortable';
import { type Clock, pause } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { CallService } from '../calls/room.ts';
import { SHUTTING_DOWN, type TurnEnd } from './agent/agent.ts';
import { type Notice, notice, turnError } from './agent/notices.ts';
import { hasCalls, isEmptyAnswer, namedCalls, ofLastTurn, untilFinal } from './agent/turn.ts';
import { endWith, failedEnd, stoppedEnd, stoppedWords, stopperOf } from './agent/turn-ending.ts';
import type { LiveRun } from './live-run.ts';
import type { MessageWriter } from './message-writer.ts';
/** The notice of a turn that was taken up after a restart. */
export const RESTARTED = 'restarted';

/** Each wait takes `clientsReturnMs`. */
const CALLER_WAITS = 5;

/** More calls than one step records: what is open or lost belongs to the last step. */
const MOST_CALLS = 200;

interface RecoverTurnDeps {
  readonly calls: CallService;
  readonly clock: Clock;
  /** Clients find their server again within this; a model that is asked before would miss their tools. */
  readonly clientsReturnMs: number;
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
  if (mayGoOn) writer.showNotice(notice(RESTARTED));
  const open = calls.filter((call) => !isFinalStatus(call.status));
  try {
    await abortable(signal, Promise.all(open.map(({ id }) => untilFinal(deps.calls, id, signal))));
    if (mayGoOn) await abortable(signal, clientsReturn(deps, askedFrom(run.messages()), signal));
  } catch (error) {
    if (!signal.aborted) throw error;
    return stopped(writer, open, deps, signal);
  }
  if (!mayGoOn) return endWith(writer, failedEnd(turnError('interrupted')));
  // On disk before the model is asked, so that a server that dies of it counts how often.
  await writer.end();
  return deps.goOn(stepsDone(run.messages()), signal);
}

async function stopped(
  writer: MessageWriter,
  open: readonly Call[],
  deps: RecoverTurnDeps,
  signal: AbortSignal,
): Promise<TurnEnd> {
  if (signal.reason === SHUTTING_DOWN) return { status: 'suspended' };
  for (const { id, runId } of open) {
    const by = stopperOf(signal);
    deps.calls.cancel(id, stoppedWords(signal), `run:${runId}`, by).catch(deps.logger.error);
  }
  return endWith(writer, stoppedEnd(signal));
}

/** Lists the calls of the run's own agent, oldest first, without what a person retried by hand. */
async function callsOf(run: LiveRun, calls: CallService): Promise<Call[]> {
  const { calls: found } = await calls.list({ runId: run.runId, limit: MOST_CALLS });
  // Earlier calls are named in messages that may not be in memory.
  const from = run.older > 0 ? (run.messages()[0]?.created_at ?? 0) * 1000 - 1 : 0;
  const own = found.filter(
    ({ requestedBy, retryOf, createdAt }) =>
      requestedBy === `run:${run.runId}` && !retryOf && createdAt >= from,
  );
  return own.toSorted((a, b) => a.createdAt - b.createdAt);
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

const GOES_ON: ReadonlySet<string> = new Set(INFORMING_NOTICES);
const ENDED_WELL: ReadonlySet<string> = new Set(NOTICES_OF_GOOD_ENDS);

/** A step that brings the server down is not tried for ever. */
const MOST_TAKE_UPS = 3;

/** The notice at a turn's end, if it has one: beside others it goes on. */
const noticeOf = ({ parts }: Message) =>
  parts.filter((part) => part.type === 'notice').findLast(({ code }) => !GOES_ON.has(code));

const isTakeUp = (message: Message): boolean => noticeOf(message)?.code === RESTARTED;

/** The end of a turn whose last message is on disk, and whose own end is not. Pure, as all here. */
function endedTurn(messages: readonly Message[]): TurnEnd | undefined {
  const last = ofLastTurn(messages).at(-1);
  if (!last || isTakeUp(last)) return undefined;
  const shown = noticeOf(last);
  if (!shown) return hasCalls(last) || isEmptyAnswer(last) ? undefined : { status: 'idle' };
  if (shown.code === 'cancelled') return { status: 'cancelled' };
  if (ENDED_WELL.has(shown.code)) return { status: 'idle' };
  const { code, text, params } = shown;
  const error = { code, message: text, ...(params === undefined ? {} : { params }) };
  return { status: 'failed', error };
}

/** Steps of the turn that are on disk, with calls or empty; they count towards its limit. */
const stepsDone = (messages: readonly Message[]): number =>
  ofLastTurn(messages).filter((message) => hasCalls(message) || isEmptyAnswer(message)).length;

/** False when the turn was taken up three times without finishing a step. */
function canGoOn(messages: readonly Message[]): boolean {
  const turn = ofLastTurn(messages);
  const lastStep = turn.findLastIndex((message) => !isTakeUp(message));
  return turn.length - 1 - lastStep < MOST_TAKE_UPS;
}

const CUT: Notice = {
  code: 'cancelled',
  text: 'The server was restarted while the sub-agent worked; it does not go on.',
};

/**
 * Ends a sub-agent's turn that a restart cut (DE9): the call that it worked for has ended without its
 * answer, as a call of a tool with effects does. Its open calls are cancelled.
 */
export async function endCutChild(
  run: LiveRun,
  { calls, logger }: { calls: CallService; logger: Logger },
  signal: AbortSignal,
): Promise<TurnEnd> {
  const own = await callsOf(run, calls);
  if (signal.reason === SHUTTING_DOWN) return { status: 'suspended' };
  const named = namedCalls(run.messages());
  const writer = await run.beginMessage();
  for (const { id } of own) if (!named.has(id)) writer.addCall(id);
  for (const { id, runId, status } of own) {
    if (isFinalStatus(status)) continue;
    calls.cancel(id, 'The server was restarted.', `run:${runId}`).catch(logger.error);
  }
  return endWith(writer, { notice: CUT, end: { status: 'cancelled' } });
}
