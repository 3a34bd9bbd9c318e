import type { Call } from '#lib/call/call';
import { sameJson } from '#lib/json/equal';
import type { EventBus } from '../events/room.ts';
import { toApproval } from './snapshot.ts';

/** Publishes that a call begins to wait for a yes, that the question changes, and that it no longer waits. */
export function publishApproval(
  bus: Pick<EventBus, 'publish'>,
  record: Call,
  previous: Call | undefined,
): void {
  const approval = approvalOf(record);
  if (sameJson(approval, previous ? approvalOf(previous) : null)) return;
  bus.publish({ type: 'approval', tool_call_id: record.id, run_id: record.runId, approval });
}

const approvalOf = (call: Call) => toApproval(call)[0] ?? null;
