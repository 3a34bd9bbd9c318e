import type { Call } from '#lib/call/call';
import { isRecord } from '#lib/json/is-record';
import type { CallErrorCode } from '#lib/protocol/call-status';
import { isDecided } from '#lib/protocol/is-decided';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { Message } from '#lib/protocol/run';
import type { ToolRegistry } from '../../tools/room.ts';
import {
  type MessageWriter,
  OWNER_REVOKED,
  SHUTTING_DOWN,
  type TurnEnd,
  WorkNotWanted,
} from './agent.ts';
import { failure, type Notice, notice, stopped, type TurnError } from './notices.ts';
import { digest, hasCalls, messagesRead, namedCalls, outcomeOf, type Turn } from './turn.ts';
/** Why a turn makes no further calls. */
export interface Ending {
  readonly notice: Notice;
  /** The model reads this, to answer once more without tools; undefined where it is not asked again. */
  readonly words: string | undefined;
}

interface Progress extends Pick<TurnProgress, 'stuck' | 'timedOut' | 'cut'> {
  readonly failing: CountedTool | undefined;
}

/** Decides before each step whether it is one that may call tools (AL3, AL121 to AL123, AL127). */
export function endingOf(
  turn: Turn,
  { stuck, timedOut, cut, failing }: Progress,
  step: number,
): Ending | undefined {
  if (timedOut) return { notice: notice('tool_timeouts', ofTool(timedOut)), words: undefined };
  if (cut) return { notice: notice('arguments_cut', ofTool(cut)), words: undefined };
  if (failing) return { notice: notice('tool_failures', ofTool(failing)), words: undefined };
  if (stuck) {
    const words = `You called ${stuck.toolName} ${stuck.count} times with the same arguments and the same result, and cannot call tools any more.`;
    return { notice: notice('repeated_calls', ofTool(stuck)), words };
  }
  const { maxSteps } = turn.deps;
  if (step > maxSteps) {
    const words = `You have used all ${maxSteps} steps and cannot call tools any more.`;
    return { notice: notice('step_limit', { steps: maxSteps }), words };
  }
  const spent = turn.spending.spent(turn.deps.clock.now() / 1000);
  if (!spent) return undefined;
  const words = `The limit of ${spent.limit} ${spent.unit} of this turn is reached, and you cannot call tools any more.`;
  return { notice: notice(`budget_${spent.unit}`, { limit: spent.limit }), words };
}

const ofTool = ({ toolName: tool, count }: CountedTool) => ({ tool, count });

/** True where a call of the tool, if it succeeds, is the last one of its turn. */
export function endsTurn(registry: Pick<ToolRegistry, 'find'>, toolName: string): boolean {
  const tool = registry.find(toolName)?.best;
  return tool?.clientId === null && tool.endsTurn === true;
}

/** Gives the words with which the newest call has ended the turn (AL160); undefined where none has. */
export function completedWith(turn: Turn, records: readonly Call[]): string | undefined {
  const messages = messagesRead(turn);
  const last = messages.findLast((message) => !isNoticeAlone(message));
  if (!last || !hasCalls(last)) return undefined;
  const [id, ...others] = namedCalls([last]);
  const call = others.length === 0 ? records.find((record) => record.id === id) : undefined;
  if (call?.status !== 'SUCCEEDED' || call.source !== 'server') return undefined;
  if (!endsTurn(turn.deps.registry, call.toolName)) return undefined;
  return typeof call.display === 'string' ? call.display : '';
}

/** A restart writes one between the call and what follows it. */
const isNoticeAlone = ({ role, parts }: Message): boolean =>
  role === 'assistant' && parts.every(({ type }) => type === 'notice');

/** The end of a turn, with the notice that says it to people. */
export interface NotedEnd {
  readonly notice: Notice;
  readonly end: TurnEnd;
}

export const failedEnd = (error: TurnError): NotedEnd => ({
  notice: failure(error),
  end: { status: 'failed', error },
});

export const REVOKED: TurnError = {
  code: 'owner_revoked',
  message: 'The token of the owner of this run was revoked; nothing more is done in its name.',
};

/** The turn was stopped, but not by the end of the server. */
export const stoppedEnd = (signal: AbortSignal): NotedEnd =>
  signal.reason === OWNER_REVOKED
    ? failedEnd(REVOKED)
    : { notice: stopped(stopperOf(signal)), end: { status: 'cancelled' } };

/** The notice is the last that the turn writes. */
export async function endWith(writer: MessageWriter, { notice, end }: NotedEnd): Promise<TurnEnd> {
  writer.addNotice(notice);
  await writer.end();
  return end;
}

/** The name of who stopped the turn, where that is known. */
export function stopperOf({ reason }: AbortSignal): string | undefined {
  const by: unknown = isRecord(reason) ? reason.stoppedBy : undefined;
  return typeof by === 'string' ? by : undefined;
}

export const isShuttingDown = (signal: AbortSignal): boolean =>
  signal.aborted && signal.reason === SHUTTING_DOWN;

/** The run cancels its calls under this name. */
export const actorOf = ({ runId }: Turn): string => `run:${runId}`;

/** Why the calls of such a turn are cancelled. */
export const stoppedWords = ({ reason }: AbortSignal): string =>
  reason instanceof WorkNotWanted ? reason.message : 'The run was stopped.';

/** A call that gave the same result so often is not run again, and the model reads why. */
const MOST_REPEATS = 3;
/** A turn whose model makes such a call still, so often in all, is ended. Those of one step alone end none. */
const ENDING_REPEATS = 5;
/** Timeouts of one tool, one after the other, that end a turn; and calls of which the arguments were cut. */
const ENDING_TIMEOUTS = 3;
const ENDING_CUTS = 2;

export interface CountedTool {
  readonly toolName: string;
  readonly count: number;
}

/** The calls of a turn say whether it gets anywhere. */
export interface TurnProgress {
  /** Calls of the turn, those that were refused among them. */
  readonly calls: number;
  readonly repeated: readonly CountedTool[];
  /** True where this call has given the same result so often that it is not run again. */
  isRepeated(toolName: string, args: unknown): boolean;
  /** A call that was made so often that the turn ends. */
  readonly stuck: CountedTool | undefined;
  /** A tool whose last calls timed out, so many that the turn ends. */
  readonly timedOut: CountedTool | undefined;
  /** A tool whose last calls were cut by the output limit, so many that the turn ends. */
  readonly cut: CountedTool | undefined;
}

export const ARGUMENTS_CUT = 'arguments_cut';

export const REPEATED_CALL = 'repeated_call';

/** By `callKey`, of calls as the model wrote them. */
type WrittenKeys = ReadonlyMap<Call['id'], string>;

/**
 * Reads the records of a turn, in order (AL120, AL121). Calls are the same when tool and arguments
 * are, whatever the order of keys; another result begins the count anew. `isPolling` names the
 * tools that are asked again and again on purpose: their repeats do not count. What a model wrote
 * is known by `written` also where it was repaired, or a hook or a person changed it.
 */
export function readProgress(
  records: readonly Call[],
  isPolling: (toolName: string) => boolean,
  written: WrittenKeys = new Map(),
): TurnProgress {
  const repeats = new Map<string, Repeats>();
  /** Calls of the record by what the model wrote, where that is something else. */
  const recorded = new Map<string, string>();
  const timeouts = new Map<string, number>();
  const cuts = new Map<string, number>();
  for (const record of records) {
    if (!isFinalStatus(record.status)) continue;
    countInRow(timeouts, record, record.status === 'TIMEOUT');
    countInRow(cuts, record, record.error?.reason === ARGUMENTS_CUT);
    if (isPolling(record.toolName)) continue;
    const key = callKey(record.toolName, record.args, record.wantedClientId);
    const asWritten = written.get(record.id);
    if (asWritten !== undefined && !isRefused(record)) recorded.set(asWritten, key);
    countRepeat(repeats, isRefused(record) ? (recorded.get(key) ?? key) : key, record);
  }
  const counted = [...repeats.values()].filter(({ count }) => count >= MOST_REPEATS);
  return {
    calls: records.length,
    repeated: counted,
    isRepeated(toolName, args) {
      const key = callKey(toolName, args);
      return (repeats.get(recorded.get(key) ?? key)?.count ?? 0) >= MOST_REPEATS;
    },
    stuck: counted.find(({ count, isWarned }) => count >= ENDING_REPEATS && isWarned),
    timedOut: countedIn(timeouts, ENDING_TIMEOUTS),
    cut: countedIn(cuts, ENDING_CUTS),
  };
}

interface Repeats extends CountedTool {
  readonly outcome: string;
  /** One of them was refused as a repeat: the model has made it although it had read of it. */
  readonly isWarned: boolean;
}

/** A refused repeat is one more of those before, and has the arguments as they were written. */
const isRefused = ({ error }: Call): boolean => error?.reason === REPEATED_CALL;

function countRepeat(repeats: Map<string, Repeats>, key: string, record: Call): void {
  const { toolName } = record;
  const before = repeats.get(key);
  const isWarned = isRefused(record);
  const outcome = isWarned && before ? before.outcome : outcomeOf(record);
  const isSame = before?.outcome === outcome;
  repeats.set(key, {
    toolName,
    outcome,
    count: isSame ? before.count + 1 : 1,
    isWarned: isWarned || (isSame && before.isWarned),
  });
}

/** How many calls of each tool, one after the other, were so. */
function countInRow(counts: Map<string, number>, { toolName }: Call, isSo: boolean): void {
  if (isSo) counts.set(toolName, (counts.get(toolName) ?? 0) + 1);
  else counts.delete(toolName);
}

function countedIn(counts: ReadonlyMap<string, number>, least: number): CountedTool | undefined {
  const [toolName, count] = [...counts].find(([, one]) => one >= least) ?? [];
  return toolName === undefined || count === undefined ? undefined : { toolName, count };
}

/** The same for calls that are the same. */
export const callKey = (
  toolName: string,
  args: unknown,
  wantedClientId: string | null = null,
): string => digest([toolName, args, ...(wantedClientId === null ? [] : [wantedClientId])]);

/** Failures of one tool, one after the other, of which the model reads. */
const WARNING_FAILURES = 3;
/** The instructions grow by no more than these; those that failed last come first. */
const MOST_WARNINGS = 5;

/** Decisions of people, and calls of tools that are not there, say nothing of a tool. */
const isNoFailure = (code: CallErrorCode): boolean =>
  isDecided(code) || code === 'interrupted' || code === 'no_provider';

/** Steps of one turn, one after the other, in which a tool failed in the same way, that pause the turn. */
const ENDING_FAILURES = 3;

export interface FailingTool extends CountedTool {
  readonly code: CallErrorCode;
}

/** Tools whose last calls in this conversation failed, three of them or more (AL125). */
export function failingTools(records: readonly Call[]): FailingTool[] {
  const rows = new Map<string, FailingTool>();
  for (const { toolName, status, error } of records) {
    if (!isFinalStatus(status)) continue;
    if (error && isNoFailure(error.code)) continue;
    const before = rows.get(toolName);
    // Put behind the others.
    rows.delete(toolName);
    if (error) rows.set(toolName, { toolName, count: (before?.count ?? 0) + 1, code: error.code });
  }
  const failing = [...rows.values()].filter(({ count }) => count >= WARNING_FAILURES);
  return failing.toReversed().slice(0, MOST_WARNINGS);
}

/**
 * A tool that failed with the same error in the last three steps of the turn that called it (AL127).
 * Calls of one step count once: the model had read of none of them.
 */
export function stuckTool(
  messages: readonly Message[],
  records: readonly Call[],
  isPolling: (toolName: string) => boolean,
): CountedTool | undefined {
  const rows = new Map<string, CountedTool & { readonly error: string }>();
  for (const message of messages) {
    const called = namedCalls([message]);
    const ofStep = records.filter(({ id, toolName }) => called.has(id) && !isPolling(toolName));
    for (const [toolName, error] of errorsByTool(ofStep)) {
      const before = rows.get(toolName);
      const count = before?.error === error ? before.count + 1 : 1;
      if (error === '') rows.delete(toolName);
      else rows.set(toolName, { toolName, error, count });
    }
  }
  return [...rows.values()].find(({ count }) => count >= ENDING_FAILURES);
}

/** A tool has one where all its calls of a step failed alike. */
function errorsByTool(records: readonly Call[]): ReadonlyMap<string, string> {
  const errors = new Map<string, string>();
  for (const record of records) {
    const { toolName } = record;
    const error = errorOf(record);
    errors.set(toolName, (errors.get(toolName) ?? error) === error ? error : '');
  }
  return errors;
}

/** Empty where the call did not fail, or its failure says nothing of the tool. */
const errorOf = ({ status, error }: Call): string =>
  !isFinalStatus(status) || !error || isNoFailure(error.code)
    ? ''
    : `${error.code} ${error.message}`;
