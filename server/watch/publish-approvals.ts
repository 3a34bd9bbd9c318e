import type { EventBus } from '../bus/event-bus.ts';
import type { CallRecord } from '../store/call-record.ts';
import { toApproval } from './snapshot.ts';

/** Tells watchers when a call begins to wait for somebody's yes, and when it no longer does. */
export function publishApproval(
  bus: Pick<EventBus, 'publish'>,
  record: CallRecord,
  previous: CallRecord | undefined,
): void {
  const waited = previous?.phase === 'approval';
  if (waited === (record.phase === 'approval')) return;
  const { id, runId, card } = record;
  const [approval] = toApproval({ tool_call_id: id, run_id: runId, card });
  bus.publish({ type: 'approval', tool_call_id: id, approval: approval ?? null });
}
