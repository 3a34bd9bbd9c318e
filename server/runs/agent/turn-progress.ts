import { hash } from 'node:crypto';
import type { CallRecord } from '#lib/call/call-record';
import { canonicalJson } from '#lib/json/canonical-json';
import { isFinalStatus } from '#lib/protocol/is-final-status';

/** A call that gave the same result so often is not run again, and the model reads why. */
const MOST_REPEATS = 3;
/** A turn whose model makes such a call still, so often in all, is ended. */
const ENDING_REPEATS = 5;
/** Timeouts of one tool, one after the other, that end a turn. */
const ENDING_TIMEOUTS = 3;

export interface CountedTool {
  readonly toolName: string;
  readonly count: number;
}

/** What the calls of a turn say about whether it gets anywhere. */
export interface TurnProgress {
  /** Calls of the turn, those that were refused among them. */
  readonly calls: number;
  /** Calls that gave the same result three times or more. */
  readonly repeated: readonly CountedTool[];
  /** Whether this call has given the same result so often that it is not run again. */
  isRepeated(toolName: string, args: unknown): boolean;
  /** A call that was made so often that the turn ends. */
  readonly stuck: CountedTool | undefined;
  /** A tool whose last calls timed out, so many that the turn ends. */
  readonly timedOut: CountedTool | undefined;
}

export const REPEATED_CALL = 'repeated_call';

/**
 * Reads the records of a turn, in order (AL120, AL121). Calls are the same when tool and arguments
 * are, whatever the order of keys; another result begins the count anew. `isPolling` names the
 * tools that are asked again and again on purpose: their repeats do not count.
 */
export function readProgress(
  records: readonly CallRecord[],
  isPolling: (toolName: string) => boolean,
): TurnProgress {
  const repeats = new Map<string, Repeats>();
  const timeouts = new Map<string, number>();
  for (const record of records) {
    if (!isFinalStatus(record.status)) continue;
    countTimeout(timeouts, record);
    if (!isPolling(record.toolName)) countRepeat(repeats, record);
  }
  const counted = [...repeats.values()].filter(({ count }) => count >= MOST_REPEATS);
  const timedOut = [...timeouts].find(([, count]) => count >= ENDING_TIMEOUTS);
  return {
    calls: records.length,
    repeated: counted,
    isRepeated: (toolName, args) =>
      (repeats.get(keyOf(toolName, args))?.count ?? 0) >= MOST_REPEATS,
    stuck: counted.find(({ count }) => count >= ENDING_REPEATS),
    timedOut: timedOut && { toolName: timedOut[0], count: timedOut[1] },
  };
}

interface Repeats extends CountedTool {
  readonly outcome: string;
}

function countRepeat(repeats: Map<string, Repeats>, record: CallRecord): void {
  const { toolName } = record;
  const key = keyOf(toolName, record.args);
  const before = repeats.get(key);
  // Refused as a repeat: it is one more of those before.
  const isRefused = record.error?.reason === REPEATED_CALL;
  const outcome = isRefused && before ? before.outcome : outcomeOf(record);
  const count = before?.outcome === outcome ? before.count + 1 : 1;
  repeats.set(key, { toolName, outcome, count });
}

function countTimeout(timeouts: Map<string, number>, { toolName, status }: CallRecord): void {
  if (status === 'TIMEOUT') timeouts.set(toolName, (timeouts.get(toolName) ?? 0) + 1);
  else timeouts.delete(toolName);
}

const keyOf = (toolName: string, args: unknown): string => digest([toolName, args]);

/** Once a record: a result may have 8 MiB, and is read before each step. */
const outcomes = new WeakMap<CallRecord, string>();

function outcomeOf(record: CallRecord): string {
  const known = outcomes.get(record);
  if (known !== undefined) return known;
  const { status, result, error, attachments } = record;
  const files = attachments.map(({ blob_id }) => blob_id);
  const outcome = digest([status, result, error?.code, error?.message, files]);
  outcomes.set(record, outcome);
  return outcome;
}

const digest = (value: unknown): string => hash('sha256', canonicalJson(value), 'base64url');
