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
  /** Calls that wait as well, for which the snapshot had no room. */
  readonly approvalsLeftOut: number;
  /** False until the first snapshot: an empty list then means "not known yet". */
  readonly known: boolean;
}

export const NO_LISTINGS: ListingsState = {
  ...{ tools: [], clients: [], approvals: [], approvalsLeftOut: 0 },
  known: false,
};

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
      if (event.approval) return { ...state, approvals: [...others, event.approval] };
      const wasHere = others.length < state.approvals.length;
      return { ...state, approvals: others, ...(wasHere ? {} : oneLess(state)) };
    }
    default:
      return state;
  }
}

/** What ends without having been listed is one of those that had no room. */
const oneLess = ({ approvalsLeftOut }: ListingsState): Partial<ListingsState> =>
  approvalsLeftOut > 0 ? { approvalsLeftOut: approvalsLeftOut - 1 } : {};

/** SF21: a page of what waits, beside what is known. `isLast`: no more of it waits. */
export function withApprovals(
  state: ListingsState,
  page: readonly ApprovalListing[],
  isLast: boolean,
): ListingsState {
  const known = new Set(state.approvals.map((one) => one.tool_call_id));
  const added = page.filter((one) => !known.has(one.tool_call_id));
  const approvals = [...state.approvals, ...added].toSorted((a, b) => a.expires_at - b.expires_at);
  const left = Math.max(1, state.approvalsLeftOut - added.length);
  return { ...state, approvals, approvalsLeftOut: isLast ? 0 : left };
}

export const listingsOfSnapshot = (snapshot: Snapshot): ListingsState => ({
  tools: snapshot.tools,
  clients: snapshot.clients,
  approvals: snapshot.approvals,
  approvalsLeftOut: snapshot.left_out?.approvals ?? 0,
  known: true,
});
