import type { CallRecord, Provider } from '#lib/call/call-record';
import { NO_ROUTING } from '#lib/call/call-record';
import { newCall } from '#lib/call/new-call';
import type { CallStatus } from '#lib/protocol/call-status';

export type Instance = 'a' | 'b';

/** What differs between the states of the call; the rest of its record never does, or is a time. */
export interface Rec {
  readonly status: CallStatus;
  readonly phase: CallRecord['phase'];
  readonly provider: Provider | null;
  readonly granted: boolean;
  readonly rerunnable: boolean;
  /** The answer that stands: `ok:<run>` or an error's code. */
  readonly result: string | null;
  readonly executed: string | null;
}

const BASE: CallRecord = newCall(
  {
    id: 'tc',
    runId: 'run',
    toolName: 'tool',
    source: 'client',
    toolProvider: 'clients',
    args: {},
    annotations: {},
    timeoutMs: 1,
    routing: NO_ROUTING,
    wantedClientId: null,
    retryOf: null,
    requestedBy: 'operator',
    displayName: null,
  },
  0,
);

/** As `decide` takes it. Clocks may run out whenever they run, so no time is kept. */
export const toCall = ({ result: _, executed: __, rerunnable, ...rec }: Rec): CallRecord => ({
  ...BASE,
  ...rec,
  annotations: rerunnable ? { readOnlyHint: true } : {},
});

export const toRec = (call: CallRecord, { result, executed }: Rec): Rec => ({
  status: call.status,
  phase: call.phase,
  provider: call.provider,
  granted: call.granted,
  rerunnable: call.annotations.readOnlyHint === true,
  result: call.error?.code ?? result,
  executed: call.error?.executed ?? executed,
});

/** Decided, and not yet on disk. */
export interface Pending {
  readonly rec: Rec;
  readonly isOffer: boolean;
  /** What leaves once it is on disk. */
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
  /** Of this call, ready to be sent; in the journal when that says `done`. */
  answer: string | null;
}

/** Everything that there is, at one moment. Plain data: its JSON is its identity. */
export interface World {
  rec: Rec;
  disk: Rec | null;
  pending: Pending[];
  /** It is being made: what is decided now is in the write of its first event. */
  isNew: boolean;
  /** The caller has the id of the call. */
  isAccepted: boolean;
  /** What watchers were shown last. */
  seen: string | null;
  isUp: boolean;
  /** Broken recovery: nobody looks after the call any more. */
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

/** What is looked at: which tool and client, and how much may go wrong. */
export interface Bounds {
  readonly attempts: number;
  readonly instances: 1 | 2;
  /** Crashes of server or client, lost journals, cut connections, repeated messages and cancels, in all. */
  readonly faults: number;
  readonly rerunnable: boolean;
  /** Instance b says the opposite of the tool. */
  readonly isMixed?: boolean;
  readonly claims: boolean;
}

/** What an instance says of its tool. */
export const isRerunnableAt = ({ rerunnable, isMixed = false }: Bounds, i: Instance): boolean =>
  rerunnable !== (isMixed && i === 'b');

export const INSTANCES: readonly Instance[] = ['a', 'b'];

/** A call just made, with one instance connected and serving its tool. */
export function firstWorld({ faults, rerunnable }: Bounds): World {
  const rec: Rec = {
    status: 'PENDING',
    phase: 'queued',
    provider: null,
    granted: false,
    rerunnable,
    result: null,
    executed: null,
  };
  return {
    rec,
    disk: null,
    pending: [{ rec, isOffer: false, outs: ['accepted'], isTold: false }],
    isNew: true,
    isAccepted: false,
    seen: null,
    isUp: true,
    isForgotten: false,
    live: { a: 1, b: 0 },
    newest: { a: 1, b: 0 },
    serves: { a: true, b: false },
    owed: { a: null, b: null },
    clients: { a: { ...newClient(1), conn: 1, welcomed: true }, b: newClient(1) },
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
