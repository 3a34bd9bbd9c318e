import type { ToolListing } from '../protocol/tool-spec.ts';
import type {
  ApprovalListing,
  ClientListing,
  Snapshot,
  WatchEvent,
} from '../protocol/watch-messages.ts';

export interface ListingsState {
  readonly tools: readonly ToolListing[];
  readonly clients: readonly ClientListing[];
  readonly approvals: readonly ApprovalListing[];
  /** False until the first snapshot: an empty list then means "not known yet". */
  readonly known: boolean;
}

export const NO_LISTINGS: ListingsState = { tools: [], clients: [], approvals: [], known: false };

/** SF10, SF11: lists come whole and replace; approvals come one by one. */
export function foldListings(state: ListingsState, events: readonly WatchEvent[]): ListingsState {
  let next = state;
  for (const event of events) {
    if (event.type === 'tools') next = { ...next, tools: event.tools };
    else if (event.type === 'clients') next = { ...next, clients: event.clients };
    else if (event.type === 'approval') {
      const others = next.approvals.filter((one) => one.tool_call_id !== event.tool_call_id);
      next = { ...next, approvals: event.approval ? [...others, event.approval] : others };
    }
  }
  return next;
}

export const listingsOfSnapshot = (snapshot: Snapshot): ListingsState => ({
  tools: snapshot.tools,
  clients: snapshot.clients,
  approvals: snapshot.approvals,
  known: true,
});
