import { summaryOfCard } from '#lib/call/bound-card';
import { isFinalCard } from '#lib/call/merge-card';
import type { RunRecord } from '#lib/protocol/run';
import type { ApprovalListing, ClientListing, Snapshot } from '#lib/protocol/watch-messages';
import { given } from '#lib/util/given';
import { FIRST_OPERATOR } from '../auth/principal.ts';
import type { CallService, ShownCall } from '../calls/call-service.ts';
import type { RunService } from '../runs/run-service.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';
import {
  boundApprovals,
  boundClients,
  boundTools,
  MOST_CLIENTS_OF_TOOL,
} from './bound-listings.ts';
import type { EventBus, SnapshotText } from './event-bus.ts';
import { type Fitted, fitIntoRoom } from './fit-into-room.ts';
import { createPace } from './paced.ts';

export type TakeSnapshot = (runId?: string) => Promise<SnapshotText>;

/** Of the whole text (contract, section 8). */
const SNAPSHOT_BYTES = 1024 * 1024;
/** What is neither a call nor in one of the lists. */
const ENVELOPE_BYTES = 1024;
const RUNS_BYTES = 384 * 1024;
/** Up to here runs come with all their messages. */
const WITH_MESSAGES_BYTES = 256 * 1024;
/** Of each value of a call, where there is hardly any room. */
const LEAST_BYTES = 100;
/** Newest ended calls. */
const ENDED_CALLS = 200;

export interface SnapshotDeps {
  readonly bus: Pick<EventBus, 'seq'>;
  readonly calls: Pick<CallService, 'watched' | 'endedOf'>;
  readonly runs: Pick<RunService, 'watched'>;
  readonly registry: Pick<ToolRegistry, 'list'>;
  clients(): ClientListing[];
  /** Publishes what has changed of tools and clients. */
  publishNow(): void;
}

/**
 * All that a watcher needs to start from, as of one event number, in at most
 * 1 MiB (rules WA10 to WA12). Watchers that ask for the same in one moment share one.
 */
export function createSnapshots(deps: SnapshotDeps): TakeSnapshot {
  const pace = createPace(1);
  const myTurn = () => pace(1);
  return shared(deps.bus, (runId) => takeSnapshot(deps, runId, myTurn));
}

async function takeSnapshot(
  deps: SnapshotDeps,
  runId: string | undefined,
  myTurn: () => Promise<void>,
): Promise<SnapshotText> {
  const ended = runId === undefined ? [] : await deps.calls.endedOf(runId);
  await myTurn();
  // After the last wait: what happens to a run later comes as an event.
  const watchedRuns = await deps.runs.watched(runId);
  deps.publishNow();
  // From here on nothing is awaited: all of it is as of this one number.
  const { seq } = deps.bus;
  const shown = withoutTwins([...ended, ...deps.calls.watched(runId)]);
  const approvals = boundApprovals(shown.flatMap(toApproval));
  const clients = boundClients(deps.clients());
  const tools = boundTools(deps.registry.list(FIRST_OPERATOR, null, MOST_CLIENTS_OF_TOOL));
  const runs = boundRuns(watchedRuns);
  const lists = { runs, tools, clients, approvals };
  const used = Object.values(lists).reduce((sum, { bytes }) => sum + bytes, ENVELOPE_BYTES);
  const calls = boundCalls(shown, SNAPSHOT_BYTES - used);
  return { seq, text: Buffer.from(toText(seq, { ...lists, calls })) };
}

/** Of two of one id the later one counts. */
const withoutTwins = (calls: readonly ShownCall[]): ShownCall[] =>
  [...new Map(calls.map((call) => [call.id, call])).values()].sort(
    (a, b) => a.createdAt - b.createdAt,
  );

/** Newest runs first into the room, whole; then without their older messages. */
function boundRuns(runs: readonly RunRecord[]): Fitted<Snapshot['runs'][number]> {
  const fitted = fitIntoRoom<RunRecord, Snapshot['runs'][number]>(runs.toReversed(), [
    { show: (run) => run, upTo: WITH_MESSAGES_BYTES },
    {
      show: ({ messages, messages_left_out: before = 0, ...run }) => ({
        ...run,
        messages: [],
        messages_left_out: before + messages.length,
      }),
      upTo: RUNS_BYTES,
    },
  ]);
  return { ...fitted, shown: fitted.shown.toReversed() };
}

/** Open calls before ended ones, newer before older. */
function boundCalls(shown: readonly ShownCall[], room: number): Fitted<Snapshot['calls'][number]> {
  const newest = shown.toReversed();
  const open = newest.filter(({ card }) => !isFinalCard(card));
  const ended = newest.filter(({ card }) => isFinalCard(card)).slice(0, ENDED_CALLS);
  // Open calls leave a quarter to ended ones.
  const openRoom = ended.length === 0 ? room : (room / 4) * 3;
  const openFit = fitIntoRoom(open, formsWithin(openRoom));
  const endedFit = fitIntoRoom(ended, formsWithin(room - openFit.bytes));
  const places = new Map(shown.map(({ id }, place) => [id, place]));
  const placeOf = (call: Snapshot['calls'][number]) => places.get(call.tool_call_id) ?? 0;
  return {
    shown: [...openFit.shown, ...endedFit.shown].sort(
      (a, b) => placeOf(a.value) - placeOf(b.value),
    ),
    bytes: openFit.bytes + endedFit.bytes,
    leftOut: openFit.leftOut + endedFit.leftOut,
  };
}

/** Whole cards, then summaries, then little more than names and states. */
const formsWithin = (room: number) => [
  { show: ({ id, runId, card }: ShownCall) => toWatched(id, runId, card), upTo: room / 4 },
  {
    show: ({ id, runId, card }: ShownCall) => toWatched(id, runId, summaryOf(card)),
    upTo: (room / 4) * 3,
  },
  {
    show: ({ id, runId, card }: ShownCall) =>
      toWatched(id, runId, summaryOfCard(summaryOf(card), LEAST_BYTES)),
    upTo: room,
  },
];

const toWatched = (
  id: string,
  runId: string,
  card: Snapshot['calls'][number]['card'],
): Snapshot['calls'][number] => ({ tool_call_id: id, run_id: runId, card });

/** Cards do not change: the summary of one is made once. */
const summaries = new WeakMap<ShownCall['card'], ShownCall['card']>();

function summaryOf(card: ShownCall['card']): ShownCall['card'] {
  const summary = summaries.get(card) ?? summaryOfCard(card);
  summaries.set(card, summary);
  return summary;
}

type Lists = {
  readonly [Name in keyof Omit<Snapshot, 'type' | 'seq' | 'left_out'>]: Fitted<unknown>;
};

function toText(seq: number, lists: Lists): string {
  const names = ['runs', 'calls', 'tools', 'clients', 'approvals'] as const;
  const parts = names.map(
    (name) => `,"${name}":[${lists[name].shown.map(({ json }) => json).join(',')}]`,
  );
  const leftOut = names.filter((name) => lists[name].leftOut > 0);
  const counts = Object.fromEntries(leftOut.map((name) => [name, lists[name].leftOut]));
  const rest = leftOut.length === 0 ? '' : `,"left_out":${JSON.stringify(counts)}`;
  return `{"type":"snapshot","seq":${seq}${parts.join('')}${rest}}`;
}

/**
 * One answer for all who ask for the same until it is there, and in the rest of
 * that turn of the event loop as long as nothing has happened since: an event
 * that is in it neither, and went to watchers before, would be missed.
 */
function shared(bus: Pick<EventBus, 'seq'>, take: TakeSnapshot): TakeSnapshot {
  const current = new Map<string | undefined, { answer: Promise<SnapshotText>; seq?: number }>();
  return (runId) => {
    const asked = current.get(runId);
    if (asked && (asked.seq === undefined || asked.seq === bus.seq)) return asked.answer;
    const entry: { answer: Promise<SnapshotText>; seq?: number } = { answer: take(runId) };
    current.set(runId, entry);
    const forget = () => {
      if (current.get(runId) === entry) current.delete(runId);
    };
    entry.answer.then(({ seq }) => {
      entry.seq = seq;
      setImmediate(forget);
    }, forget);
    return entry.answer;
  };
}

/** A call that waits for approval. */
export function toApproval({ id, runId, requestedBy, card }: ShownCall): ApprovalListing[] {
  if (card.phase !== 'approval') return [];
  return [
    {
      tool_call_id: id,
      run_id: runId,
      tool_name: card.tool_name ?? '',
      reason: card.approval_reason ?? '',
      expires_at: card.clock?.deadline_at ?? 0,
      ...given({
        key: card.approval_key,
        requested_by: requestedBy,
        question: card.question,
      }),
    },
  ];
}
