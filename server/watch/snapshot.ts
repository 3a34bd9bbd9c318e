import type { Call } from '#lib/call/call';
import { isFinalCard } from '#lib/call/merge-card';
import { sameJson } from '#lib/json/equal';
import type { RunRecord } from '#lib/protocol/run';
import type { ApprovalListing, ClientListing, Snapshot } from '#lib/protocol/watch-messages';
import { given } from '#lib/util/given';
import { FIRST_OPERATOR } from '../auth/room.ts';
import type { CallService, ShownCall } from '../calls/room.ts';
import type { EventBus, SnapshotText } from '../events/room.ts';
import type { RunService } from '../runs/room.ts';
import type { ToolRegistry } from '../tools/room.ts';
import { ENDED_CALLS, endedFrom } from './ended-parts.ts';
import {
  boundApprovals,
  boundClients,
  boundTools,
  type Fitted,
  fitIntoRoom,
  formsWithin,
  MOST_CLIENTS_OF_TOOL,
  type WatchedCall,
} from './fit-into-room.ts';
import { createPace } from './paced.ts';

/** `parts`: the first part of all, which has what waits and what is open. */
export interface SnapshotOf {
  readonly runId?: string | undefined;
  readonly parts?: boolean | undefined;
}

export type TakeSnapshot = (of?: SnapshotOf) => Promise<SnapshotText>;

/** The parts that are neither a call nor in one of the lists. */
const ENVELOPE_BYTES = 1024;

/** How many bytes of text there are, in all and for each list but the calls. */
interface Room {
  readonly bytes: number;
  /** Up to `withMessages` runs come with all their messages. */
  readonly runs: { readonly withMessages: number; readonly upTo: number };
  readonly tools?: { readonly withSchemas: number; readonly upTo: number };
  readonly clients?: number;
  readonly approvals?: number;
}

/** Contract, section 8. */
const WHOLE: Room = {
  bytes: 1024 * 1024,
  runs: { withMessages: 256 * 1024, upTo: 384 * 1024 },
};
/** Takes three seconds of a line of 20 kB/s (rule WA16). */
const FIRST_PART: Room = {
  bytes: 60 * 1024,
  runs: { withMessages: 6 * 1024, upTo: 10 * 1024 },
  // Tools of the server, of a browser and of a phone fit, without their schemas.
  tools: { withSchemas: 2 * 1024, upTo: 18 * 1024 },
  clients: 6 * 1024,
  approvals: 12 * 1024,
};

export interface SnapshotDeps {
  readonly bus: Pick<EventBus, 'seq'>;
  readonly calls: Pick<CallService, 'watched' | 'endedOf'>;
  readonly runs: Pick<RunService, 'watched'>;
  readonly registry: Pick<ToolRegistry, 'list'>;
  clients(): ClientListing[];
  /** Counts what of pairing waits for a person. */
  devices(): NonNullable<Snapshot['devices']>;
  /** Publishes what has changed of tools and clients. */
  publishNow(): void;
}

/**
 * All that a watcher needs to start from, as of one event number, in at most
 * 1 MiB (rules WA10 to WA12), or the first part of it (WA16). Watchers that ask for the same in one
 * moment share one.
 */
export function createSnapshots(deps: SnapshotDeps): TakeSnapshot {
  const pace = createPace(1);
  const myTurn = () => pace(1);
  return shared(deps.bus, (of = {}) => takeSnapshot(deps, of, myTurn));
}

/** The calls of one run as a snapshot has them, and the number of the newest event in it. */
export const createShownCalls =
  ({ calls, bus }: Pick<SnapshotDeps, 'calls' | 'bus'>) =>
  async (runId: string): Promise<Pick<Snapshot, 'seq' | 'calls'>> => {
    const ended = await calls.endedOf(runId);
    const { seq } = bus;
    const all = withoutTwins([...ended, ...calls.watched(runId)]);
    const { shown } = boundCalls(all, WHOLE.bytes - ENVELOPE_BYTES);
    return { seq, calls: shown.map(({ value }) => value) };
  };

async function takeSnapshot(
  deps: SnapshotDeps,
  { runId, parts: isFirst = false }: SnapshotOf,
  myTurn: () => Promise<void>,
): Promise<SnapshotText> {
  const room = isFirst ? FIRST_PART : WHOLE;
  const ended = runId === undefined ? [] : await deps.calls.endedOf(runId);
  await myTurn();
  // After the last wait: what happens to a run later comes as an event.
  const watchedRuns = await deps.runs.watched(runId);
  deps.publishNow();
  // From here on nothing is awaited: all of it is as of this one number.
  const { seq } = deps.bus;
  const shown = withoutTwins([...ended, ...deps.calls.watched(runId)]);
  const approvals = boundApprovals(shown.flatMap(toApproval), room.approvals);
  const clients = boundClients(deps.clients(), room.clients);
  const list = deps.registry.list(FIRST_OPERATOR, null, MOST_CLIENTS_OF_TOOL);
  const tools = boundTools(list, room.tools);
  const runs = boundRuns(watchedRuns, room.runs);
  const lists = { runs, tools, clients, approvals };
  const used = Object.values(lists).reduce((sum, { bytes }) => sum + bytes, ENVELOPE_BYTES);
  const calls = isFirst
    ? boundOpen(shown, room.bytes - used)
    : boundCalls(shown, room.bytes - used);
  const all = { ...lists, calls };
  const rest = isFirst ? restOf(all, shown) : undefined;
  return { seq, text: Buffer.from(toText(seq, all, { devices: deps.devices(), rest })) };
}

/** Says what the first part has not. Messages and schemas are fetched where they are shown. */
function restOf(lists: Lists, shown: readonly ShownCall[]): Snapshot['rest'] {
  const isShort = Object.values(lists).some(({ leftOut }) => leftOut > 0) || !lists.calls.isWhole;
  if (isShort) return { snapshot: true };
  const ended = endedFrom(shown);
  return ended === undefined ? undefined : { ended };
}

/** The later one of two of one id counts. */
const withoutTwins = (calls: readonly ShownCall[]): ShownCall[] =>
  [...new Map(calls.map((call) => [call.id, call])).values()].sort(
    (a, b) => a.createdAt - b.createdAt,
  );

/** Newest runs first into the room, whole; then without their older messages. */
function boundRuns(
  runs: readonly RunRecord[],
  { withMessages, upTo }: Room['runs'],
): Fitted<Snapshot['runs'][number]> {
  const fitted = fitIntoRoom<RunRecord, Snapshot['runs'][number]>(runs.toReversed(), [
    { show: (run) => run, upTo: withMessages },
    {
      show: ({ messages, messages_left_out: before = 0, ...run }) => ({
        ...run,
        messages: [],
        messages_left_out: before + messages.length,
      }),
      upTo,
    },
  ]);
  return { ...fitted, shown: fitted.shown.toReversed() };
}

/** Open calls before ended ones, newer before older. */
function boundCalls(shown: readonly ShownCall[], room: number): Fitted<WatchedCall> {
  const newest = shown.toReversed();
  const open = newest.filter(({ card }) => !isFinalCard(card));
  const ended = newest.filter(({ card }) => isFinalCard(card)).slice(0, ENDED_CALLS);
  // Open calls leave a quarter to ended ones.
  const openRoom = ended.length === 0 ? room : (room / 4) * 3;
  const openFit = fitIntoRoom(open, formsWithin(openRoom));
  const endedFit = fitIntoRoom(ended, formsWithin(room - openFit.bytes));
  return {
    shown: inOrder(shown, [...openFit.shown, ...endedFit.shown]),
    bytes: openFit.bytes + endedFit.bytes,
    leftOut: openFit.leftOut + endedFit.leftOut,
    isWhole: openFit.isWhole && endedFit.isWhole,
  };
}

/** A first part has those that wait for a person before other open ones, newer before older. */
function boundOpen(shown: readonly ShownCall[], room: number): Fitted<WatchedCall> {
  const open = shown.filter(({ card }) => !isFinalCard(card)).toReversed();
  const waits = ({ card }: ShownCall) => card.phase === 'approval';
  // Calls that have waited longest are the ones whose questions have room.
  const waiting = open.filter(waits).toReversed();
  const byNeed = [...waiting, ...open.filter((call) => !waits(call))];
  const fit = fitIntoRoom(byNeed, formsWithin(room, (room / 4) * 3));
  return { ...fit, shown: inOrder(shown, fit.shown) };
}

/** The ones that fit, in the order in which all are. */
function inOrder(
  all: readonly ShownCall[],
  fitted: Fitted<WatchedCall>['shown'],
): Fitted<WatchedCall>['shown'] {
  const byId = new Map(fitted.map((one) => [one.value.tool_call_id, one]));
  return all.flatMap(({ id }) => byId.get(id) ?? []);
}

type Lists = {
  readonly [Name in keyof Omit<
    Snapshot,
    'type' | 'seq' | 'left_out' | 'rest' | 'devices'
  >]: Fitted<unknown>;
};

function toText(
  seq: number,
  lists: Lists,
  { devices, rest: more }: Pick<Snapshot, 'devices' | 'rest'>,
): string {
  const names = ['runs', 'calls', 'tools', 'clients', 'approvals'] as const;
  const parts = names.map(
    (name) => `,"${name}":[${lists[name].shown.map(({ json }) => json).join(',')}]`,
  );
  const leftOut = names.filter((name) => lists[name].leftOut > 0);
  const counts = Object.fromEntries(leftOut.map((name) => [name, lists[name].leftOut]));
  const left = leftOut.length === 0 ? '' : `,"left_out":${JSON.stringify(counts)}`;
  const rest = more === undefined ? '' : `,"rest":${JSON.stringify(more)}`;
  const waiting = `,"devices":${JSON.stringify(devices)}`;
  return `{"type":"snapshot","seq":${seq}${parts.join('')}${left}${waiting}${rest}}`;
}

/**
 * One answer for all who ask for the same until it is there, and in the rest of
 * that turn of the event loop as long as nothing has happened since: an event
 * that is in it neither, and went to watchers before, would be missed.
 */
function shared(bus: Pick<EventBus, 'seq'>, take: TakeSnapshot): TakeSnapshot {
  const current = new Map<string, { answer: Promise<SnapshotText>; seq?: number }>();
  return (of = {}) => {
    const key = `${of.parts === true} ${of.runId ?? ''}`;
    const asked = current.get(key);
    if (asked && (asked.seq === undefined || asked.seq === bus.seq)) return asked.answer;
    const entry: { answer: Promise<SnapshotText>; seq?: number } = { answer: take(of) };
    current.set(key, entry);
    const forget = () => {
      if (current.get(key) === entry) current.delete(key);
    };
    entry.answer.then(({ seq }) => {
      entry.seq = seq;
      setImmediate(forget);
    }, forget);
    return entry.answer;
  };
}

/** A call that waits for approval. */
function toApproval({ id, runId, requestedBy, card }: ShownCall): ApprovalListing[] {
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

/** Publishes that a call begins to wait for a yes, that the question changes, and that it no longer waits. */
export function publishApproval(
  bus: Pick<EventBus, 'publish'>,
  record: Call,
  previous: Call | undefined,
): void {
  const approval = approvalOf(record);
  if (sameJson(approval, previous ? approvalOf(previous) : null)) return;
  bus.publish({ type: 'approval', tool_call_id: record.id, run_id: record.runId, approval });
}

const approvalOf = (call: Call) => toApproval(call)[0] ?? null;
