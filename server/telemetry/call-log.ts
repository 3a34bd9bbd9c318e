import type { Call } from '#lib/call/call';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { LogFields } from '../base/logger.ts';

/** The log as this needs it. */
export interface DebugLog {
  readonly isDebug: boolean;
  debug(line: string, fields: LogFields): void;
}

/** One line for each change of a call's state that is on disk (LG3); nothing of what it was given, or gave. */
export function logCall(log: DebugLog, call: Call, previous: Call | undefined): void {
  if (!log.isDebug) return;
  const { status, phase } = call;
  if (previous?.status === status && previous.phase === phase) return;
  const isFinal = isFinalStatus(status);
  log.debug(isFinal ? 'A call has ended' : 'A call goes on', {
    ...{ tool_call_id: call.id, run_id: call.runId, tool: call.toolName, status, phase },
    ...{ client_id: call.provider?.clientId, attempt: call.provider?.attempt },
    error: call.error?.code,
    ms: isFinal ? (call.completedAt ?? call.createdAt) - call.createdAt : undefined,
  });
}
