import type { CallRecord } from '#lib/call/call-record';
import type { CallErrorCode } from '#lib/protocol/call-status';
import { isDecided } from '#lib/protocol/is-decided';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { CountedTool } from './turn-progress.ts';

/** Failures of one tool, one after the other, of which the model reads. */
const WARNING_FAILURES = 3;
/** The instructions grow by no more than these; those that failed last come first. */
const MOST_WARNINGS = 5;

/** What people decided, and calls of tools that are not there: they say nothing of a tool. */
const isNoFailure = (code: CallErrorCode): boolean =>
  isDecided(code) || code === 'interrupted' || code === 'no_provider';

export interface FailingTool extends CountedTool {
  /** Of the last failure. */
  readonly code: CallErrorCode;
}

/** Tools whose last calls in this conversation failed, three of them or more (AL125). */
export function failingTools(records: readonly CallRecord[]): FailingTool[] {
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
