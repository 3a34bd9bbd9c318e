import type { ApprovalListing, ClientListing, Snapshot } from '#lib/protocol/watch-messages';
import type { EventBus } from '../bus/event-bus.ts';
import type { CallService } from '../calls/call-service.ts';
import type { RunService } from '../runs/run-service.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';

export type TakeSnapshot = (runId?: string) => Promise<Snapshot>;

/** All that a watcher needs to start from, as of one event number. */
export function createSnapshots(deps: {
  bus: Pick<EventBus, 'seq'>;
  calls: Pick<CallService, 'watched'>;
  runs: Pick<RunService, 'watched'>;
  registry: Pick<ToolRegistry, 'list'>;
  clients(): ClientListing[];
}): TakeSnapshot {
  return async (runId) => {
    const runs = await deps.runs.watched(runId);
    // From here on nothing is awaited: all of it is as of this one number.
    const { seq } = deps.bus;
    const calls = deps.calls
      .watched(runId)
      .map(({ id, runId: run, card }) => ({ tool_call_id: id, run_id: run, card }));
    return {
      type: 'snapshot',
      seq,
      runs: [...runs],
      calls,
      tools: deps.registry.list({ kind: 'operator', sessionId: null }),
      clients: deps.clients(),
      approvals: calls.flatMap(toApproval),
    };
  };
}

/** A call that waits for somebody's yes. */
export function toApproval(call: Snapshot['calls'][number]): ApprovalListing[] {
  const { card } = call;
  if (card.phase !== 'approval') return [];
  return [
    {
      tool_call_id: call.tool_call_id,
      run_id: call.run_id,
      tool_name: card.tool_name ?? '',
      reason: card.approval_reason ?? '',
      expires_at: card.clock?.deadline_at ?? 0,
    },
  ];
}
