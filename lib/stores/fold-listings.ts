import type { ToolListing } from '../protocol/tool-spec.ts';
import type {
  ApprovalListing,
  ClientListing,
  Snapshot,
  WatchEvent,
} from '../protocol/watch-messages.ts';
import { foldClients, foldTools } from './fold-list-changes.ts';

export interface ListingsState {
  readonly tools: readonly ToolListing[];
  readonly clients: readonly ClientListing[];
  readonly approvals: readonly ApprovalListing[];
  /** False until the first snapshot: an empty list then means "not known yet". */
  readonly known: boolean;
}

export const NO_LISTINGS: ListingsState = { tools: [], clients: [], approvals: [], known: false };

/** SF10, SF11, SF18: lists come whole and replace, or as changes; approvals come one by one. */
export function foldListings(state: ListingsState, events: readonly WatchEvent[]): ListingsState {
  return events.reduce(foldListing, state);
}

function foldListing(state: ListingsState, event: WatchEvent): ListingsState {
  switch (event.type) {
    case 'tools':
      return { ...state, tools: event.tools };
    case 'clients':
      return { ...state, clients: event.clients };
    case 'tools_changed':
      return { ...state, tools: foldTools(state, event) };
    case 'clients_changed':
      return { ...state, ...foldClients(state, event) };
    case 'approval': {
      const others = state.approvals.filter((one) => one.tool_call_id !== event.tool_call_id);
      return { ...state, approvals: event.approval ? [...others, event.approval] : others };
    }
    default:
      return state;
  }
}

export const listingsOfSnapshot = (snapshot: Snapshot): ListingsState => ({
  tools: snapshot.tools,
  clients: snapshot.clients,
  approvals: snapshot.approvals,
  known: true,
});
