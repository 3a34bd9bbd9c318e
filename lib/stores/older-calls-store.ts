import { createStore, type StoreApi } from 'zustand/vanilla';
import type { ApiFailure, ApiResult } from '../api/api-result.ts';
import { boundCard, isFinalCard, mergeCard } from '../call/merge-card.ts';
import type { ListedCall, WireCallRecord } from '../protocol/call-record.ts';
import { own } from '../util/own.ts';
import { type CallEntry, withDeleted } from './calls-store.ts';

/** Calls kept of what was fetched; the ones fetched first give way, and are fetched again when reached. */
const KEPT_OLDER_CALLS = 5_000;

/** A call on its way by its id, or why it could not be had; nothing once it is here. */
export type Single =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly failure: ApiFailure };

/** How far a run's calls have been fetched. */
export type RunPages = (Single | { readonly state: 'ready' }) & {
  /** Where the next page begins; null after the last one, undefined before the first. */
  readonly cursor: string | null | undefined;
};

export interface OlderCallsState {
  readonly byId: Readonly<Record<string, CallEntry>>;
  /** Ids, oldest call first. A new array only when a call came or went. */
  readonly order: readonly string[];
  readonly pages: Readonly<Record<string, RunPages>>;
  /** Calls that were asked for by their id. */
  readonly single: Readonly<Record<string, Single>>;
}

export interface OlderCallsActions {
  /** The next page of a run's calls, newest first. One at a time for each run (SO2). */
  loadPage(runId: string): Promise<void>;
  /** One call, unless it is here or on its way. Gives the failure, if any. */
  loadCall(callId: string): Promise<ApiFailure | null>;
  /** A call that came into view: by the next page of its run, else by its id (SO3). */
  reach(runId: string, callId: string): Promise<void>;
  /** The server has said that it deleted this call. */
  markDeleted(callId: string): void;
  /** A snapshot came, and left out calls of these runs that the feed had named (SO7). */
  renew(runIds: ReadonlySet<string>): void;
}

export type OlderCallsStore = StoreApi<OlderCallsState & OlderCallsActions>;

export interface OlderCallsDeps {
  listCalls(query: {
    runId: string;
    cursor?: string;
  }): Promise<ApiResult<{ tool_calls: ListedCall[]; next_cursor: string | null }>>;
  getCall(callId: string): Promise<ApiResult<WireCallRecord>>;
}

const NOTHING: OlderCallsState = { byId: {}, order: [], pages: {}, single: {} };

/** Calls that the feed does not name, because they ended long ago: fetched when a person reaches them. */
export function createOlderCallsStore({ listCalls, getCall }: OlderCallsDeps): OlderCallsStore {
  const pagesUnderWay = new Map<string, Promise<void>>();
  let renewals = 0;
  return createStore((set, get) => {
    const setPages = (runId: string, pages: RunPages) =>
      set((state) => ({ pages: { ...state.pages, [runId]: pages } }));
    const setSingle = (callId: string, fetching: Single) =>
      set((state) => ({ single: { ...state.single, [callId]: fetching } }));
    const fetched = (call: WireCallRecord) =>
      set((state) => {
        const { [call.tool_call_id]: _here, ...single } = state.single;
        return { ...withCalls(state, [call]), single };
      });

    const fetchPage = async (runId: string) => {
      const cursor = own(get().pages, runId)?.cursor;
      if (cursor === null) return;
      setPages(runId, { state: 'loading', cursor });
      const before = renewals;
      const answer = await listCalls({ runId, ...(cursor === undefined ? {} : { cursor }) });
      if (before !== renewals) return;
      if (!answer.ok) return setPages(runId, { state: 'failed', failure: answer, cursor });
      const { tool_calls: calls, next_cursor } = answer.value;
      set((state) => withCalls(state, calls));
      setPages(runId, { state: 'ready', cursor: next_cursor });
    };
    const loadPage = (runId: string) => {
      const underWay = pagesUnderWay.get(runId);
      if (underWay) return underWay;
      const page = fetchPage(runId).finally(() => {
        if (pagesUnderWay.get(runId) === page) pagesUnderWay.delete(runId);
      });
      pagesUnderWay.set(runId, page);
      return page;
    };
    const loadCall = async (callId: string) => {
      const { byId, single } = get();
      if (own(byId, callId) || own(single, callId)?.state === 'loading') return null;
      setSingle(callId, { state: 'loading' });
      const answer = await getCall(callId);
      if (answer.ok) fetched(answer.value);
      else setSingle(callId, { state: 'failed', failure: answer });
      return answer.ok ? null : answer;
    };
    const isHere = (callId: string) => own(get().byId, callId) !== undefined;
    return {
      ...NOTHING,
      loadPage,
      loadCall,
      markDeleted: (callId) => set((state) => withDeleted(state, callId)),
      renew(runIds) {
        renewals += 1;
        pagesUnderWay.clear();
        set((state) => renewed(state, runIds));
      },
      async reach(runId, callId) {
        if (!isHere(callId)) await loadPage(runId);
        if (!isHere(callId)) await loadCall(callId);
      },
    };
  });
}

/** SO1: each call once, in the order in which they were made. */
function withCalls(
  state: OlderCallsState,
  calls: readonly (ListedCall | WireCallRecord)[],
): Partial<OlderCallsState> {
  const fetched = calls.map((call): [string, CallEntry] => [call.tool_call_id, toEntry(call)]);
  const kept = [...Object.entries(state.byId), ...fetched].slice(-KEPT_OLDER_CALLS);
  const byId = Object.fromEntries(kept);
  const order = Object.keys(byId).toSorted((a, b) => madeAt(byId, a) - madeAt(byId, b));
  return { byId, order };
}

/** SO7: without what may have changed since, so that it is fetched again when it is reached. */
function renewed(state: OlderCallsState, runIds: ReadonlySet<string>): Partial<OlderCallsState> {
  const { byId, order, pages } = state;
  const isFinal = (id: string) => {
    const entry = own(byId, id);
    return entry !== undefined && isFinalCard(entry.card);
  };
  const kept = Object.entries(pages).filter(
    ([runId, page]) => !runIds.has(runId) && page.state !== 'loading',
  );
  return {
    pages: Object.fromEntries(kept),
    ...(order.every(isFinal)
      ? {}
      : {
          byId: Object.fromEntries(Object.entries(byId).filter(([id]) => isFinal(id))),
          order: order.filter(isFinal),
        }),
  };
}

/** The feed would carry it so: a single record has all of its values, a card their beginnings. */
const toEntry = ({ tool_call_id: callId, run_id: runId, card, created_at }: WireCallRecord) => ({
  callId,
  runId,
  seq: 0,
  card: boundCard(mergeCard(undefined, { created_at, ...card })),
});

const madeAt = (byId: OlderCallsState['byId'], id: string): number =>
  byId[id]?.card.created_at ?? 0;
