import type { Call } from '#lib/call/call';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { LogFields } from '../base/logger.ts';

export type Part = readonly [
  phase: 'approval' | 'queue' | 'offer' | 'execute',
  from: number,
  to: number,
];

/** The parts that a call went through; one that it never reached is not there. */
export function partsOf(call: Call, end: number): Part[] {
  const { createdAt, queuedAt, offeredAt, startedAt, routing } = call;
  const isAsked = routing.approval !== null || call.card.approval_decision !== undefined;
  const parts: Part[] = [];
  if (isAsked) parts.push(['approval', createdAt, queuedAt ?? end]);
  if (queuedAt !== undefined) parts.push(['queue', queuedAt, offeredAt ?? startedAt ?? end]);
  if (offeredAt !== undefined) parts.push(['offer', offeredAt, startedAt ?? end]);
  if (startedAt !== undefined) parts.push(['execute', startedAt, end]);
  return parts;
}

/** Says whether the call ended with this state, and not before. */
export const hasEnded = (call: Call, previous: Call | undefined): boolean =>
  isFinalStatus(call.status) && !(previous && isFinalStatus(previous.status));

/** The log as this needs it. */
interface DebugLog {
  debug(line: string, fields: LogFields): void;
}

/** One line for each change of a call's state that is on disk (LG3); nothing of what it was given, or gave. */
export function logCall(log: DebugLog, call: Call, previous: Call | undefined): void {
  const { status, phase } = call;
  if (previous?.status === status && previous.phase === phase) return;
  const isFinal = isFinalStatus(status);
  log.debug(isFinal ? 'A call has ended' : 'A call goes on', {
    tool_call_id: call.id,
    run_id: call.runId,
    tool: call.toolName,
    status,
    phase,
    client_id: call.provider?.clientId,
    attempt: call.provider?.attempt,
    error: call.error?.code,
    ms: isFinal ? (call.completedAt ?? call.createdAt) - call.createdAt : undefined,
  });
}
