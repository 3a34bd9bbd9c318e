import { useShallow } from 'zustand/react/shallow';
import { agentOf } from '#lib/protocol/child-run';
import type { ApprovalListing } from '#lib/protocol/watch-messages';
import type { CallEntry } from '#lib/stores/calls-store';
import { own } from '#lib/util/own';
import { useCalls } from '../providers/workbench-context.tsx';

/** More than sub-agents can stand above each other. */
const MOST_ABOVE = 8;

/** Where a call comes from: the conversation, and the sub-agents between it and the call, the outermost first. */
export interface Origin {
  readonly runId: string;
  readonly agents: readonly string[];
}

/** As far as the page knows the calls above; `runId` is that of the call itself. */
export function useOrigin(callId: string, runId: string): Origin {
  // Flat, so that equal answers are one.
  const [root = runId, ...agents] = useCalls(useShallow(({ byId }) => above(byId, callId, runId)));
  return { runId: root, agents };
}

/** The conversation of each request, in their order. */
export const useConversations = (requests: readonly ApprovalListing[]): readonly string[] =>
  useCalls(
    useShallow(({ byId }) =>
      requests.map(({ tool_call_id, run_id }) => above(byId, tool_call_id, run_id)[0] ?? run_id),
    ),
  );

function above(
  byId: Readonly<Record<string, CallEntry>>,
  callId: string,
  runId: string,
): readonly string[] {
  const agents: string[] = [];
  let root = runId;
  let call = own(byId, callId);
  for (let steps = 0; call && steps < MOST_ABOVE; steps += 1) {
    root = call.runId;
    const parent = call.card.parent_call_id;
    call = parent ? own(byId, parent) : undefined;
    const agent = call && agentOf(call.card.tool_name ?? '', call.card.params);
    if (agent) agents.unshift(agent);
  }
  return [root, ...agents];
}
