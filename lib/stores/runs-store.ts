import { createStore, type StoreApi } from 'zustand/vanilla';
import { sameJson } from '../json/equal.ts';
import type { MessagesPage } from '../protocol/rest.ts';
import type { Message, MessagePart, RunRecord, RunSummary } from '../protocol/run.ts';
import type { Snapshot, WatchEvent } from '../protocol/watch-messages.ts';
import { own } from '../util/own.ts';

interface RunsActions {
  apply(events: readonly WatchEvent[]): void;
  replace(snapshot: Snapshot): void;
  /** Adds a run that was fetched because the feed did not tell of it. */
  load(record: RunRecord): void;
}

export type RunsStore = StoreApi<RunsState & RunsActions>;

/** Conversations and their messages. */
export function createRunsStore(): RunsStore {
  return createStore((set) => ({
    ...NO_RUNS,
    apply: (events) => set((state) => foldRuns(state, events)),
    replace: (snapshot) => set((state) => runsOfSnapshot(state, snapshot)),
    load: (record) => set((state) => withRecord(state, record)),
  }));
}

/** Newest first, without those of sub-agents, which lie in the cards of their calls. */
export const newestRuns = (state: RunsState): RunSummary[] =>
  Object.values(state.runs)
    .filter(({ parent }) => !parent)
    .toSorted((a, b) => b.updated_at - a.updated_at);

export interface RunsState {
  readonly runs: Readonly<Record<string, RunSummary>>;
  /** Messages by run, oldest first. */
  readonly messages: Readonly<Record<string, readonly Message[]>>;
  /** How many older messages of a run are fetched by page, where there are some. */
  readonly older: Readonly<Record<string, number>>;
}

export const NO_RUNS: RunsState = { runs: {}, messages: {}, older: {} };

type Delta = Extract<WatchEvent, { type: 'message_delta' }>;

/** Folds events into runs and their messages (SF6 to SF9). What does not change keeps its identity. */
export function foldRuns(state: RunsState, events: readonly WatchEvent[]): RunsState {
  let next = state;
  for (const event of events) {
    if (event.type === 'run') next = withRun(next, event.run);
    else if (event.type === 'message') next = withMessage(next, event.run_id, event.message);
    else if (event.type === 'message_delta') next = withDelta(next, event);
  }
  return next;
}

/** SF5: a snapshot replaces what was known. */
export function runsOfSnapshot(state: RunsState, snapshot: Snapshot): RunsState {
  let next = NO_RUNS;
  for (const record of snapshot.runs) {
    const { messages, messages_left_out: leftOut, ...run } = record;
    const knownRun = own(state.runs, run.run_id);
    if (leftOut !== undefined) {
      // Messages that are there may be old: they are fetched when the run is opened.
      next = { ...next, runs: { ...next.runs, [run.run_id]: run } };
      continue;
    }
    const knownMessages = own(state.messages, run.run_id);
    next = withRun(next, knownRun && sameJson(knownRun, run) ? knownRun : run);
    next = withMessages(
      next,
      run.run_id,
      knownMessages && sameJson(knownMessages, messages) ? knownMessages : messages,
    );
  }
  return next;
}

/**
 * SF9: a record fetched over HTTP fills what is unknown; what events said stays. The record's order
 * counts, since an answer may bring a new message before its event; what events alone brought is newer.
 */
function withRecord(state: RunsState, record: RunRecord): RunsState {
  const { messages, messages_left_out: leftOut = 0, ...run } = record;
  const shown = own(state.messages, run.run_id) ?? [];
  // Older pages stay where they are.
  const at = shown.findIndex((message) => message.message_id === messages[0]?.message_id);
  const before = shown.slice(0, Math.max(at, 0));
  const live = shown.slice(before.length);
  const published = new Map(live.map((message) => [message.message_id, message]));
  const fetched = new Set(messages.map((message) => message.message_id));
  const newer = live.filter((message) => !fetched.has(message.message_id));
  const known = messages.map((message) => published.get(message.message_id) ?? message);
  const next = own(state.runs, run.run_id) ? state : withRun(state, run);
  const older = { ...next.older, [run.run_id]: Math.max(leftOut - before.length, 0) };
  return withMessages({ ...next, older }, run.run_id, [...before, ...known, ...newer]);
}

function withRun(state: RunsState, run: RunSummary): RunsState {
  const runs = { ...state.runs, [run.run_id]: run };
  return own(state.runs, run.run_id) || own(state.messages, run.run_id)
    ? { ...state, runs }
    : withMessages({ ...state, runs }, run.run_id, []);
}

/** SF17: a run that came without its messages: they are fetched whole when it is opened. */
export const lacksMessages = (state: RunsState, runId: string): boolean =>
  Object.hasOwn(state.runs, runId) && !Object.hasOwn(state.messages, runId);

const withMessages = (
  state: RunsState,
  runId: string,
  messages: readonly Message[],
): RunsState => ({ ...state, messages: { ...state.messages, [runId]: messages } });

/** SF7: a message replaces the one of its id, in its place; else it comes last. */
function withMessage(state: RunsState, runId: string, message: Message): RunsState {
  if (lacksMessages(state, runId)) return state;
  const before = own(state.messages, runId) ?? [];
  const at = before.findIndex((known) => known.message_id === message.message_id);
  return withMessages(state, runId, at < 0 ? [...before, message] : before.with(at, message));
}

/** SF8: text goes to the part of that place and kind; a delta that fits nowhere changes nothing. */
function withDelta(state: RunsState, delta: Delta): RunsState {
  const before = own(state.messages, delta.run_id) ?? [];
  const at = before.findLastIndex((known) => known.message_id === delta.message_id);
  const message = before[at];
  const parts = message && appendText(message.parts, delta);
  if (!message || !parts) return state;
  return withMessages(state, delta.run_id, before.with(at, { ...message, parts }));
}

function appendText(parts: readonly MessagePart[], delta: Delta): MessagePart[] | undefined {
  const part = parts[delta.index];
  if (!part) {
    const isNext = delta.index === parts.length;
    return isNext ? [...parts, { type: delta.part, text: delta.delta }] : undefined;
  }
  if (part.type !== delta.part) return undefined;
  return parts.with(delta.index, { type: delta.part, text: part.text + delta.delta });
}

/** SF20: an older page stands before the messages that are here; each message is here once. */
export function withOlderMessages(state: RunsState, page: MessagesPage): RunsState {
  const { run_id: runId, messages, messages_left_out: left = 0 } = page;
  const here = state.messages[runId] ?? [];
  const ids = new Set(here.map((message) => message.message_id));
  const fetched = messages.filter((message) => !ids.has(message.message_id));
  return {
    ...state,
    messages: { ...state.messages, [runId]: [...fetched, ...here] },
    older: { ...state.older, [runId]: left },
  };
}
