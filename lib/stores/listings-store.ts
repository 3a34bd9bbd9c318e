import { createStore, type StoreApi } from 'zustand/vanilla';
import { inListOrder } from '../protocol/tool-source.ts';
import type { ToolListing } from '../protocol/tool-spec.ts';
import type {
  ApprovalListing,
  ClientListing,
  Snapshot,
  WatchEvent,
} from '../protocol/watch-messages.ts';

interface ListingsActions {
  apply(events: readonly WatchEvent[]): void;
  replace(snapshot: Snapshot): void;
}

export type ListingsStore = StoreApi<ListingsState & ListingsActions>;

/** Tools, clients and approvals as they are now. */
export function createListingsStore(): ListingsStore {
  return createStore((set) => ({
    ...NO_LISTINGS,
    apply: (events) => set((state) => foldListings(state, events)),
    replace: (snapshot) => set(() => listingsOfSnapshot(snapshot)),
  }));
}

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
  tools: [],
  clients: [],
  approvals: [],
  approvalsLeftOut: 0,
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

/** An approval that ends without having been listed is one of those that had no room. */
const oneLess = ({ approvalsLeftOut }: ListingsState): Partial<ListingsState> =>
  approvalsLeftOut > 0 ? { approvalsLeftOut: approvalsLeftOut - 1 } : {};

/** The same for calls that one decision decides. */
export const keyOf = (one: ApprovalListing): string => one.key ?? one.tool_call_id;

/** One decision decides several calls: the one that was asked about first stands for them. Pure. */
export function questionsOf(approvals: readonly ApprovalListing[]): ApprovalListing[] {
  const seen = new Set<string>();
  return approvals.filter((one) => seen.size < seen.add(keyOf(one)).size);
}

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

type Lists = { readonly tools: readonly ToolListing[]; readonly clients: readonly ClientListing[] };
type Change<Type> = Extract<WatchEvent, { type: Type }>;

/** SF18: rows of a client take the place of those before, also in what the tools say of it. */
function foldClients(state: Lists, { clients, removed }: Change<'clients_changed'>): Lists {
  const rows = Map.groupBy(clients, ({ client_id }) => client_id);
  const left = new Set(removed);
  const known = new Set<string>();
  const kept = state.clients.flatMap((row) => {
    const { client_id: id } = row;
    if (left.has(id)) return [];
    const now = rows.get(id);
    if (!now) return [row];
    // The first of several rows of one client is where all of them are now.
    if (known.has(id)) return [];
    known.add(id);
    return now;
  });
  const came = clients.filter(({ client_id }) => !known.has(client_id));
  const rowsOf = (id: string) => (left.has(id) ? [] : rows.get(id));
  return {
    clients: [...kept, ...came],
    tools: state.tools.map((tool) => withAvailability(tool, rowsOf)),
  };
}

/** The tool with what the changed rows say of it; the very same tool when that is nothing. */
function withAvailability(
  tool: ToolListing,
  rowsOf: (id: string) => readonly ClientListing[] | undefined,
): ToolListing {
  const { clients, others = [], ...rest } = tool;
  if (![...clients, ...others].some(({ client_id }) => rowsOf(client_id))) return tool;
  const done = new Set<string>();
  const asked = clients.flatMap((client) => {
    const rows = rowsOf(client.client_id);
    if (!rows) return [client];
    if (done.has(client.client_id)) return [];
    done.add(client.client_id);
    return rows.filter(({ tools }) => tools.includes(tool.name)).map(toClient(tool.name));
  });
  const beside = others.flatMap((other) => {
    const rows = rowsOf(other.client_id);
    if (!rows) return [other];
    const row = rows.find(({ tools }) => tools.includes(tool.name));
    return row ? [{ client_id: row.client_id, name: row.name }] : [];
  });
  return { ...rest, clients: asked, ...(beside.length === 0 ? {} : { others: beside }) };
}

/** SF18: tools that changed take the place of those of their names; the order is that of the lists. */
function foldTools(
  state: Lists,
  { tools, removed, joined, first }: Change<'tools_changed'>,
): ToolListing[] {
  const byName = new Map(state.tools.map((tool) => [tool.name, tool]));
  for (const name of removed) byName.delete(name);
  for (const tool of tools) byName.set(tool.name, tool);
  for (const [name, ids] of Object.entries(joined)) {
    const tool = byName.get(name);
    if (tool) byName.set(name, ids.reduce(withClient(state.clients), tool));
  }
  for (const [name, id] of Object.entries(first)) {
    const tool = byName.get(name);
    if (tool) byName.set(name, withFirst(tool, withClient(state.clients)(tool, id), id));
  }
  return [...byName.values()].sort(inListOrder);
}

/** A client that offers it now, as its rows have it; in its place when it did before. */
const withClient =
  (rows: readonly ClientListing[]) =>
  (tool: ToolListing, id: string): ToolListing => {
    const own = rows
      .filter(({ client_id, tools }) => client_id === id && tools.includes(tool.name))
      .map(toClient(tool.name));
    const { others = [], ...rest } = tool;
    const at = tool.clients.findIndex(({ client_id }) => client_id === id);
    const asked = tool.clients.filter(({ client_id }) => client_id !== id);
    asked.splice(at < 0 ? asked.length : at, 0, ...own);
    const beside = others.filter(({ client_id }) => client_id !== id);
    return { ...rest, clients: asked, ...(beside.length === 0 ? {} : { others: beside }) };
  };

/** `tool` is the one before. Of a list that leaves clients out, one that came takes the place of another. */
function withFirst(before: ToolListing, tool: ToolListing, id: string): ToolListing {
  const isFirst = ({ client_id }: ToolListing['clients'][number]) => client_id === id;
  const rest = tool.clients.filter((client) => !isFirst(client));
  const clients = [...tool.clients.filter(isFirst), ...rest];
  return before.clients_left_out === undefined
    ? { ...tool, clients }
    : { ...tool, clients: clients.slice(0, before.clients.length) };
}

const toClient =
  (tool: string) =>
  ({ client_id, name, visible, responsive, tripped }: ClientListing) => {
    const open = tripped?.find((one) => one.tool === tool);
    const pause = open ? { tripped: { until: open.until, failures: open.failures } } : {};
    return { client_id, name, visible, responsive, ...pause };
  };
