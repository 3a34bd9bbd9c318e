import type { Call } from '#lib/call/call';
import { isFinalStatus } from '#lib/protocol/is-final-status';

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
  if (queuedAt !== null) parts.push(['queue', queuedAt, offeredAt ?? startedAt ?? end]);
  if (offeredAt !== null) parts.push(['offer', offeredAt, startedAt ?? end]);
  if (startedAt !== null) parts.push(['execute', startedAt, end]);
  return parts;
}

/** Whether the call ended with this state, and not before. */
export const hasEnded = (call: Call, previous: Call | undefined): boolean =>
  isFinalStatus(call.status) && !(previous && isFinalStatus(previous.status));
