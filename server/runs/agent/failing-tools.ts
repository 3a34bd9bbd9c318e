import type { Call } from '#lib/call/call';
import type { CallErrorCode } from '#lib/protocol/call-status';
import { isDecided } from '#lib/protocol/is-decided';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { Message } from '#lib/protocol/run';
import { namedCalls } from './turn-messages.ts';
import type { CountedTool } from './turn-progress.ts';

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
