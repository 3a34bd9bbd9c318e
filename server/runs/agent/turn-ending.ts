import type { Call } from '#lib/call/call';
import { isRecord } from '#lib/json/is-record';
import type { CallErrorCode } from '#lib/protocol/call-status';
import { isDecided } from '#lib/protocol/is-decided';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { Message } from '#lib/protocol/run';
import type { ToolRegistry } from '../../tools/room.ts';
import type { MessageWriter } from '../message-writer.ts';
import { OWNER_REVOKED, SHUTTING_DOWN, type TurnEnd, WorkNotWanted } from './agent.ts';
import { failure, type Notice, notice, stopped, type TurnError, turnError } from './notices.ts';
import { digest, hasCalls, messagesRead, namedCalls, outcomeOf, type Turn } from './turn.ts';

/** Why a turn makes no further calls. */
export interface Ending {
  readonly notice: Notice;
  /** The model reads this, to answer once more without tools; undefined where it is not asked again. */
  readonly words: string | undefined;
}

/** Decides before each step whether it is one that may call tools (AL3, AL121 to AL123, AL127). */
export function endingOf(turn: Turn, progress: TurnProgress, step: number): Ending | undefined {
  const { stuck, failing } = progress;
  if (failing) return { notice: notice(failing.code, ofTool(failing)), words: undefined };
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

export const REVOKED = turnError('owner_revoked');

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
/** Failures of one tool, one after the other, of which the model reads. */
const WARNING_FAILURES = 3;
/** The instructions grow by no more than these; those that failed last come first. */
const MOST_WARNINGS = 5;

export const ARGUMENTS_CUT = 'arguments_cut';

export const REPEATED_CALL = 'repeated_call';

export interface CountedTool {
  readonly toolName: string;
  readonly count: number;
}

/** Counts what came one after the other with the same outcome. */
class Rows<Tool extends { readonly toolName: string }> {
  readonly #rows = new Map<string, Tool & CountedTool & { readonly outcome: string }>();

  /** Without an outcome the row ends. */
  add(tool: Tool, outcome: string | undefined, key = tool.toolName): void {
    const before = this.#rows.get(key);
    // Put behind the others.
    this.#rows.delete(key);
    const count = before && before.outcome === outcome ? before.count + 1 : 1;
    if (outcome !== undefined) this.#rows.set(key, { ...tool, count, outcome });
  }

  get(key: string) {
    return this.#rows.get(key);
  }

  atLeast(count: number) {
    return [...this.#rows.values()].filter((row) => row.count >= count);
  }
}

/** The calls of a turn say whether it gets anywhere. */
export type TurnProgress = ReturnType<typeof readProgress>;

/** What tells a turn from one that goes round; a test has no more of it. */
interface Counting {
  /** Calls as the model wrote them, by `callKey`. */
  readonly written: Turn['written'];
  readonly deps: Pick<Turn['deps'], 'isPolling'>;
}

/** Reads the messages of a turn and the records of their calls (AL120, AL121, AL127, AL205). */
export function readProgress(
  turn: Counting,
  messages: readonly Message[],
  records: readonly Call[],
) {
  const timeouts = new Rows();
  const cuts = new Rows();
  for (const { toolName, status, error } of records) {
    if (!isFinalStatus(status)) continue;
    timeouts.add({ toolName }, status === 'TIMEOUT' ? status : undefined);
    cuts.add({ toolName }, error?.reason === ARGUMENTS_CUT ? error.reason : undefined);
  }
  const failures = failedSteps(turn, messages, records);
  const failing = [
    ...timeouts.atLeast(3).map((row) => ({ code: 'tool_timeouts' as const, ...row })),
    ...cuts.atLeast(2).map((row) => ({ code: 'arguments_cut' as const, ...row })),
    ...failures.atLeast(3).map((row) => ({ code: 'tool_failures' as const, ...row })),
  ];
  return {
    /** Calls of the turn, those that were refused among them. */
    calls: records.length,
    /** A tool whose last calls failed in one way so often that the turn ends. */
    failing: failing[0],
    ...readRepeats(turn, records),
  };
}

/**
 * Calls are the same when tool and arguments are, whatever the order of keys; another result begins
 * the count anew. The repeats of tools that are asked again and again on purpose do not count. What a
 * model wrote is known also where it was repaired, or a hook or a person changed it.
 */
function readRepeats({ written, deps }: Counting, records: readonly Call[]) {
  const repeats = new Rows();
  /** The model has made these although it had read that they are repeats. */
  const warned = new Set<string>();
  /** Calls of the record by what the model wrote, where that is something else. */
  const recorded = new Map<string, string>();
  for (const record of records) {
    const { toolName, status, error, args, wantedClientId } = record;
    if (!isFinalStatus(status) || deps.isPolling(toolName)) continue;
    const own = callKey(toolName, args, wantedClientId);
    if (error?.reason === REPEATED_CALL) {
      // It is one more of those before, and has the arguments as they were written.
      const key = recorded.get(own) ?? own;
      repeats.add({ toolName }, repeats.get(key)?.outcome ?? outcomeOf(record), key);
      warned.add(key);
      continue;
    }
    const asWritten = written.get(record.id);
    if (asWritten !== undefined) recorded.set(asWritten, own);
    const outcome = outcomeOf(record);
    if (repeats.get(own)?.outcome !== outcome) warned.delete(own);
    repeats.add({ toolName }, outcome, own);
  }
  const countOf = (key: string) => repeats.get(key)?.count ?? 0;
  const stuck = [...warned].find((key) => countOf(key) >= ENDING_REPEATS);
  return {
    repeated: repeats.atLeast(MOST_REPEATS),
    /** True where this call has given the same result so often that it is not run again. */
    isRepeated(toolName: string, args: unknown): boolean {
      const key = callKey(toolName, args);
      return countOf(recorded.get(key) ?? key) >= MOST_REPEATS;
    },
    /** A call that was made so often that the turn ends. */
    stuck: stuck === undefined ? undefined : repeats.get(stuck),
  };
}

/** The same for calls that are the same. */
export const callKey = (
  toolName: string,
  args: unknown,
  wantedClientId: string | null = null,
): string => digest([toolName, args, ...(wantedClientId === null ? [] : [wantedClientId])]);

/** Decisions of people, and calls of tools that are not there, say nothing of a tool. */
const isNoFailure = (code: CallErrorCode): boolean =>
  isDecided(code) || code === 'interrupted' || code === 'no_provider';

/** Tools whose last calls in this conversation failed, three of them or more (AL125). */
export function failingTools(records: readonly Call[]) {
  const rows = new Rows<{ readonly toolName: string; readonly code: CallErrorCode | undefined }>();
  for (const { toolName, status, error } of records) {
    if (!isFinalStatus(status) || (error && isNoFailure(error.code))) continue;
    rows.add({ toolName, code: error?.code }, error && 'failed');
  }
  return rows.atLeast(WARNING_FAILURES).toReversed().slice(0, MOST_WARNINGS);
}

/**
 * Steps of the turn, one after the other, in which a tool failed with the same error (AL127). Calls of
 * one step count once: the model had read of none of them.
 */
function failedSteps({ deps }: Counting, messages: readonly Message[], records: readonly Call[]) {
  const rows = new Rows();
  for (const message of messages) {
    const called = namedCalls([message]);
    const ofStep = records.filter(
      ({ id, toolName }) => called.has(id) && !deps.isPolling(toolName),
    );
    for (const [toolName, calls] of Map.groupBy(ofStep, (record) => record.toolName)) {
      const [error, ...others] = new Set(calls.map(errorOf));
      rows.add({ toolName }, others.length === 0 ? error : undefined);
    }
  }
  return rows;
}

/** Undefined where the call did not fail, or its failure says nothing of the tool. */
const errorOf = ({ status, error }: Call): string | undefined =>
  isFinalStatus(status) && error && !isNoFailure(error.code)
    ? `${error.code} ${error.message}`
    : undefined;
