import type { Call, Provider } from '#lib/call/call';
import type { Effect } from '#lib/call/effects';
import type { CallProgress, Grant, PlannedEffect, Recovery } from '#lib/call/engine-loop';
import { freshCall } from '#lib/call/testing/sample-call';
import type { CallError, CallStatus } from '#lib/protocol/call-status';

export type Instance = 'a' | 'b';

/** What differs between the states of the call; the rest of its record never does, or is a time. */
export interface Rec {
  readonly status: CallStatus;
  readonly phase: Call['phase'];
  readonly provider: Provider | undefined;
  readonly granted: boolean;
  readonly rerunnable: boolean;
  /** The answer that stands: `ok:<run>` or an error's code. */
  readonly result: string | null;
  readonly executed: CallError['executed'] | null;
  /** The hash of the client's answer that ended it. */
  readonly resultHash: string | undefined;
  /** The answer after the end that is kept; null for none. */
  readonly lateResult: unknown;
  /** Counted from what is on disk: how many events it has had since. */
  readonly version: number;
}

const BASE: Call = freshCall({ id: 'tc', timeoutMs: 1 }, 0);

/** As `decide` takes it. Clocks may run out whenever they run, so no time is kept. */
export const toCall = (
  { result, executed, rerunnable, lateResult, ...rec }: Rec,
  { isServer = false }: Pick<Bounds, 'isServer'> = {},
): Call =>
  ({
    ...BASE,
    ...rec,
    source: isServer ? 'server' : 'client',
    result: isOutput(result) ? result : undefined,
    error:
      result === null || executed === null || isOutput(result)
        ? undefined
        : { code: result as CallError['code'], message: '', executed },
    lateResult: lateResult ?? undefined,
    annotations: rerunnable ? { readOnlyHint: true } : {},
  }) as Call;

const isOutput = (result: string | null): boolean => result?.startsWith('ok:') ?? false;

export const toRec = (call: Call): Rec => ({
  status: call.status,
  phase: call.phase,
  provider: call.provider,
  granted: call.granted,
  rerunnable: call.annotations.readOnlyHint === true,
  result: call.error?.code ?? (call.result === undefined ? null : String(call.result)),
  executed: call.error?.executed ?? (call.result === undefined ? null : 'yes'),
  resultHash: call.resultHash,
  lateResult: call.lateResult ?? null,
  version: call.version,
});

/** The engine knows this to be on disk: the answer to what is there besides was lost. */
export const durableOf = ({ rec, disk }: Pick<World, 'rec' | 'disk'>): Rec | null =>
  disk && disk.version > rec.version ? rec : disk;

/** The engine has this in memory. */
export function progressOf(w: World, bounds: Bounds): CallProgress<WaitingEffect> {
  const durable = durableOf(w);
  return {
    latest: toCall(w.rec, bounds),
    durable: durable ? toCall(durable, bounds) : undefined,
    pendingEffects: w.waiting,
    grant: w.grant ?? undefined,
    offerVersion: w.offerVersion,
    recovery: w.recovery ?? undefined,
  };
}

/** An effect that waits for an event to be on disk. */
export interface WaitingEffect extends PlannedEffect {
  readonly effect: Effect;
  readonly provider: Provider | undefined;
  /** The connection of the client that asked for it. */
  readonly conn: number;
}

/** Decided, and not yet on disk. */
export interface Pending {
  readonly rec: Rec;
  /** Its log comes to this with it. */
  readonly logged: Rec;
  /** Replies that leave once it is on disk. */
  readonly outs: readonly string[];
  /** By a broken design: its outs have left already. */
  isTold: boolean;
}

/** An instance's journal survives its program; the rest of it does not. */
export interface Client {
  /** 0: not connected. */
  conn: number;
  welcomed: boolean;
  claimed: number;
  reclaimed: number;
  cancelled: boolean;
  /** The newest attempt that it is done with, as long as it lives. */
  over: number;
  /** `started`: runs, no effect yet. `ran`: has had it, and nobody knows. */
  run: 'none' | 'started' | 'ran';
  attempt: number;
  journal: { epoch: number; phase: 'nothing' | 'started' | 'done'; attempt: number };
  /** The answer to this call is ready to be sent; it is in the journal when that says `done`. */
  answer: string | null;
}

/** Everything that there is, at one moment. Plain data: its JSON is its identity. */
export interface World {
  rec: Rec;
  /** Its log comes to this. */
  disk: Rec | null;
  pending: Pending[];
  /** Effects that are decided, and wait for the disk. */
  waiting: WaitingEffect[];
  grant: Grant | null;
  offerVersion: number;
  recovery: Recovery | null;
  /** The server's own tool. `stopped`: before its effect. */
  own: 'none' | 'started' | 'ran' | 'stopped';
  isNew: boolean;
  /** The caller has the id of the call. */
  isAccepted: boolean;
  /** Watchers were shown this last. */
  seen: string | null;
  isUp: boolean;
  /** By a broken design: a commit was lost, and what is in memory counts, or is told, before the next start. */
  isFailed: boolean;
  /** Nobody looks after the call any more: by a broken recovery, or as no disk has it. */
  isForgotten: boolean;
  /** By instance: the connection that the server serves, and the newest that it ever did. */
  live: Record<Instance, number>;
  newest: Record<Instance, number>;
  serves: Record<Instance, boolean>;
  /** To be offered again when the instance has registered its tools; with the attempt that its journal speaks of. */
  owed: Record<Instance, { instanceId: string; attempt: number; isProof: boolean } | null>;
  clients: Record<Instance, Client>;
  /** Messages that may arrive at any time, in any order, or never; twice, when that is one of the faults. */
  net: string[];
  /** Each run that had its effect. */
  effects: string[];
  /** The answer that a client was told is safe. */
  acked: string | null;
  faults: number;
}

/** The bounds name the tool and the client that are looked at, and how much may go wrong. */
export interface Bounds {
  readonly attempts: number;
  readonly instances: 1 | 2;
  /** Crashes of server or client, lost journals, lost answers of a commit, cut connections, repeated messages and cancels, in all. */
  readonly faults: number;
  readonly rerunnable: boolean;
  /** Instance b says the opposite of the tool. */
  readonly isMixed?: boolean;
  readonly claims: boolean;
  /** The server's own tool; there are no clients. */
  readonly isServer?: boolean;
  /** A person has to allow it first. */
  readonly isAsked?: boolean;
}

/** An instance says this of its tool. */
export const isRerunnableAt = ({ rerunnable, isMixed = false }: Bounds, i: string): boolean =>
  rerunnable !== (isMixed && i === 'b');

export const INSTANCES: readonly Instance[] = ['a', 'b'];

export const newRec = ({ rerunnable }: Pick<Bounds, 'rerunnable'>): Rec =>
  toRec({ ...BASE, annotations: rerunnable ? { readOnlyHint: true } : BASE.annotations });

/** A call that is to be made, with one instance connected and serving its tool, or the server's own. */
export function firstWorld(bounds: Bounds): World {
  const { faults, isServer = false } = bounds;
  const rec = newRec(bounds);
  const first = isServer ? 0 : 1;
  return {
    rec,
    disk: null,
    pending: [],
    waiting: [],
    grant: null,
    offerVersion: 0,
    recovery: null,
    own: 'none',
    isNew: true,
    isAccepted: false,
    seen: null,
    isUp: true,
    isFailed: false,
    isForgotten: false,
    live: { a: first, b: 0 },
    newest: { a: first, b: 0 },
    serves: { a: !isServer, b: false },
    owed: { a: null, b: null },
    clients: { a: { ...newClient(1), conn: first, welcomed: !isServer }, b: newClient(1) },
    net: [],
    effects: [],
    acked: null,
    faults,
  };
}

export const newClient = (epoch: number): Client => ({
  conn: 0,
  welcomed: false,
  claimed: 0,
  reclaimed: 0,
  cancelled: false,
  over: 0,
  run: 'none',
  attempt: 0,
  journal: { epoch, phase: 'nothing', attempt: 0 },
  answer: null,
});

/** `to instance connection type attempt text`, one word each. */
export function post(w: World, message: string): void {
  if (!w.net.includes(message)) w.net = [...w.net, message].sort();
}

/** Steps change these in their place; the rest of a world is replaced. */
export function copyOf(w: World): World {
  const { clients } = w;
  return {
    ...w,
    pending: w.pending.map((one) => ({ ...one })),
    waiting: [...w.waiting],
    live: { ...w.live },
    newest: { ...w.newest },
    serves: { ...w.serves },
    owed: { ...w.owed },
    clients: { a: { ...clients.a }, b: { ...clients.b } },
    net: [...w.net],
    effects: [...w.effects],
  };
}
