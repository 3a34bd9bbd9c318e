import type { Attachment } from '#lib/protocol/attachment';
import type { CallClock, CallError } from '#lib/protocol/call-status';
import type { Card } from '#lib/protocol/card';
import type { ToolAnnotations } from '#lib/protocol/tool-spec';

/** The one client instance and attempt that may answer a call. */
export interface Provider {
  readonly clientId: string;
  readonly instanceId: string;
  readonly attempt: number;
  /** It runs nothing before it is granted. */
  readonly claims: boolean;
  readonly journalEpoch: string | null;
}

/** Instances of clients that ask for their calls over HTTP begin so, and no other. */
export const POLLING_INSTANCE = 'http:';

export const isPolling = ({ instanceId }: Pick<Provider, 'instanceId'>): boolean =>
  instanceId.startsWith(POLLING_INSTANCE);

/** A tool at a client that a person is asked to allow, or has allowed. Null: the server's own tool. */
export interface ApprovalScope {
  readonly clientId: string | null;
  /** It is the hash of name, description, schema and hints, as they were shown. */
  readonly toolHash: string;
}

/** An argument refers to this, such as a file, as it was when a person was asked about the call. */
export interface BoundOperand {
  /** JSON Pointer to the argument. */
  readonly path: string;
  readonly hash: string;
}

/** These decide which client is asked, beside `wantedClientId`. They change with the arguments, or an approval. */
export interface Routing {
  /** Whose person asks, as `askingText` makes it: asked first, as long as it is alive. */
  readonly fromClientId: string | null;
  /** The arguments were checked against the schema of this hash; null in records of before. */
  readonly schemaHash: string | null;
  /** The client whose schema that was; null for the server's own tools. */
  readonly checkedForClientId: string | null;
  /** The caller or an operator set the timeout; else that of the client that is asked counts. */
  readonly hasOwnTimeout: boolean;
  /** Null for a call that needs no approval. */
  readonly approval: ApprovalScope | null;
  /** How long a person has to decide, where that is not ten minutes. */
  readonly approvalMs?: number;
  /** The approval is for what the arguments refer to as it was; not there where no person was asked, or the tool binds nothing. */
  readonly operands?: readonly BoundOperand[];
  /** It came over MCP; else the built-in agent or a request over HTTP made it, as its caller shows. */
  readonly via?: 'mcp';
  /** The policy allowed it as a call that only reads: another is asked about. */
  readonly onlyReads?: true;
  /** No record has the secrets of the arguments: only the server that took the call can run it. */
  readonly withheld?: true;
}

export const NO_ROUTING: Routing = {
  fromClientId: null,
  schemaHash: null,
  checkedForClientId: null,
  hasOwnTimeout: false,
  approval: null,
};

/**
 * When clocks end, on the steady clock. One that does not run is not there. `executeLeftMs` is
 * what is left of `execute` while that stands, as a person is asked.
 */
export type Deadlines = { readonly [Clock in CallClock | 'executeLeftMs']?: number };

/**
 * A call: one immutable value per state, by phase (contract, section 2). Each has what its phase
 * needs. Times are milliseconds since the epoch, but for deadlines, which are on the steady clock
 * (`Moment`).
 */
export type Call =
  | Drafting
  | AwaitingApproval
  | Waiting
  | Offered
  | Granted
  | AtDevice
  | Cancelling
  | Ended;

/** Each call has these. */
export interface CallHead {
  readonly id: string;
  readonly runId: string;
  readonly toolName: string;
  /** `server`, `client`, or the kind of another provider of tools. */
  readonly source: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The newest that the running tool showed people of its work, whole. */
  readonly preview?: unknown;
  readonly attachments: readonly Attachment[];
  /** They are those of the client that has it, or would be asked; what another one says of the tool does not count. */
  readonly annotations: ToolAnnotations;
  readonly timeoutMs: number;
  /** Set when the caller named one client. */
  readonly wantedClientId: string | null;
  readonly routing: Routing;
  readonly createdAt: number;
  /**
   * The steady clock when the deadlines were set: what is stored is the time that was left then.
   * Null before the first, and in records of before, whose deadlines are wall times.
   */
  readonly clockMark: number | null;
  /** Milliseconds that the person at the device may still be asked, all times together. Not there before the first. */
  readonly deviceLeftMs?: number | undefined;
  readonly retryOf: string | null;
  /** The number of the newest event that is in this state; the first is 1. */
  readonly version: number;
  /** Which provider of tools runs it, e.g. `server`, `clients`, `mcp:<name>`. */
  readonly toolProvider: string;
  /** Its result is not marked as untrusted; set where `source` does not say it. */
  readonly trusted?: boolean | undefined;
  /** The call whose tool made this one. */
  readonly parentCallId: string | null;
  /** How many calls stand above it. */
  readonly depth: number;
  /** The one who asked: `operator`, `agent:<name>`, `run:<run id>`. */
  readonly requestedBy: string;
  /** The token of its run's owner, who sees it; null: the operator of the first run, as in records of before. */
  readonly ownerToken: string | null;
  /** Its span stands below this one, a W3C `traceparent`; not there where nothing came in with it. */
  readonly traceparent?: string | undefined;
  /** The model that made the call calls it so; not there where it gave no usable id. */
  readonly modelCallId?: string | undefined;
  readonly card: Card;
}

/** It has no outcome yet. */
interface Open extends CallHead {
  readonly completedAt?: undefined;
  readonly error?: undefined;
  readonly result?: undefined;
  readonly display?: undefined;
  readonly resultHash?: undefined;
  readonly lateResult?: undefined;
}

/** No executor has been asked. */
interface Unplaced extends Open {
  readonly status: 'PENDING';
  readonly granted: false;
  readonly provider?: undefined;
  readonly offeredAt?: undefined;
  readonly startedAt?: undefined;
}

/** A model is still writing its arguments. */
export interface Drafting extends Unplaced {
  readonly phase: 'streaming';
  readonly queuedAt?: undefined;
  readonly deadlines: Pick<Deadlines, never>;
}

/** It waits for a person's yes, or (`held`) for its turn to be shown to one. */
export interface AwaitingApproval extends Unplaced {
  readonly phase: 'held' | 'approval';
  /** It was allowed before, and is asked about again. */
  readonly queuedAt?: number | undefined;
  readonly deadlines: Pick<Deadlines, 'approval'>;
}

/** It waits for an executor. */
export interface Waiting extends Unplaced {
  readonly phase: 'queued';
  readonly queuedAt: number;
  readonly deadlines: Pick<Deadlines, 'queue'>;
}

/** An executor has it: a client's instance (`provider`), or without one the server. */
interface Placed extends Open {
  readonly status: 'RUNNING';
  readonly provider?: Provider | undefined;
  readonly queuedAt?: number | undefined;
  readonly offeredAt?: number | undefined;
  readonly startedAt?: number | undefined;
}

/** A client has been asked. One that does not claim may run it already. */
export interface Offered extends Placed {
  readonly phase: 'offered';
  readonly provider: Provider;
  readonly offeredAt: number;
  /**
   * It may have been started: by one that does not claim, in an attempt before this one, or as a
   * start of the server found the call offered.
   */
  readonly granted: boolean;
  readonly deadlines: Pick<Deadlines, 'queue' | 'start' | 'execute' | 'resume'>;
}

/** Its executor may run it. */
export interface Granted extends Placed {
  readonly phase: 'granted';
  readonly granted: true;
  readonly startedAt: number;
  readonly deadlines: Pick<Deadlines, 'execute' | 'executeLeftMs' | 'resume'>;
}

/** The person at the client is being asked; its execute clock stands. */
export interface AtDevice extends Placed {
  readonly phase: 'device';
  readonly provider: Provider;
  readonly granted: true;
  readonly startedAt: number;
  readonly deadlines: Pick<Deadlines, 'approval' | 'executeLeftMs' | 'resume'>;
}

/** Its executor is asked to stop it. */
export interface Cancelling extends Placed {
  readonly phase: 'cancelling';
  readonly granted: true;
  readonly deadlines: Pick<Deadlines, 'cancel' | 'resume'>;
}

/** How it ended, with what is known of its way there. */
export type Ended = Succeeded | Failed;

interface Outcome extends CallHead {
  readonly phase: null;
  readonly completedAt: number;
  /** An executor may have started it. */
  readonly granted: boolean;
  /** The last that had it. */
  readonly provider?: Provider | undefined;
  readonly queuedAt?: number | undefined;
  readonly offeredAt?: number | undefined;
  readonly startedAt?: number | undefined;
  readonly deadlines: Pick<Deadlines, never>;
  /** The tool answered this, for the model; `null` is an answer. */
  readonly result?: unknown;
  /** People are shown this in place of `result`, whole. Not there when the tool gave none. */
  readonly display?: unknown;
  /** Hash of the text of the accepted answer; not there when no answer ended the call. A repeated answer mostly has the same. */
  readonly resultHash?: string | undefined;
  readonly lateResult?: unknown;
}

export interface Succeeded extends Outcome {
  readonly status: 'SUCCEEDED';
  readonly error?: undefined;
}

export interface Failed extends Outcome {
  readonly status: 'FAILED' | 'TIMEOUT';
  readonly error: CallError;
}

type KeyOf<One> = One extends unknown ? keyof One : never;
type ValueOf<One, Key> = One extends unknown ? (Key extends keyof One ? One[Key] : never) : never;

/** Any of the fields of a call, of whatever phase. */
export type CallFields = { readonly [Key in KeyOf<Call>]?: ValueOf<Call, Key> | undefined };

/** Running the tool again does no harm. */
export const isRerunnable = ({ annotations }: Pick<Call, 'annotations'>): boolean =>
  annotations.readOnlyHint === true || annotations.idempotentHint === true;

/**
 * True when its client, once back, can prove what became of it. One without a
 * journal cannot, once the call is its own: its first answer counts until the
 * clock runs out.
 */
export const hasJournal = ({ provider, granted }: Pick<Call, 'provider' | 'granted'>) =>
  !provider || (provider.claims && !(granted && isPolling(provider)));
