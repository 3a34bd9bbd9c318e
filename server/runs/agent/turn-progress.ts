import type { Call } from '#lib/call/call';
import type { CallErrorCode } from '#lib/protocol/call-status';
import { isDecided } from '#lib/protocol/is-decided';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { Message } from '#lib/protocol/run';
import { digest, namedCalls, outcomeOf } from './turn.ts';

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

/** What the calls of a turn say about whether it gets anywhere. */
export interface TurnProgress {
  /** Calls of the turn, those that were refused among them. */
  readonly calls: number;
  readonly repeated: readonly CountedTool[];
  /** Whether this call has given the same result so often that it is not run again. */
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
  /** What became of what the model wrote, where that is something else. */
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

/** As a repeat: it is one more of those before, and has the arguments as they were written. */
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

/** What people decided, and calls of tools that are not there: they say nothing of a tool. */
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
    const ofStep = new Map<string, string>();
    for (const record of records) {
      if (!called.has(record.id) || isPolling(record.toolName)) continue;
      const { toolName } = record;
      const error = errorOf(record);
      ofStep.set(toolName, (ofStep.get(toolName) ?? error) === error ? error : '');
    }
    for (const [toolName, error] of ofStep) {
      const before = rows.get(toolName);
      const count = before?.error === error ? before.count + 1 : 1;
      if (error === '') rows.delete(toolName);
      else rows.set(toolName, { toolName, error, count });
    }
  }
  return [...rows.values()].find(({ count }) => count >= ENDING_FAILURES);
}

/** Empty where the call did not fail, or its failure says nothing of the tool. */
const errorOf = ({ status, error }: Call): string =>
  !isFinalStatus(status) || !error || isNoFailure(error.code)
    ? ''
    : `${error.code} ${error.message}`;
