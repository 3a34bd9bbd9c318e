import type { Attachment } from '#lib/protocol/attachment';
import type { CallError, CallPhase, CallStatus } from '#lib/protocol/call-status';
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
  /** Of name, description, schema and hints, as they were shown. */
  readonly toolHash: string;
}

/** What an argument refers to, such as a file, as it was when a person was asked about the call. */
export interface BoundOperand {
  /** JSON Pointer to the argument. */
  readonly path: string;
  readonly hash: string;
}

/** What decides which client is asked, beside `wantedClientId`. Changes with the arguments, or an approval. */
export interface Routing {
  /** Whose person asks, as `askingText` makes it: asked first, as long as it is alive. */
  readonly fromClientId: string | null;
  /** Of the schema that the arguments were checked against; null in records of before. */
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
  /** What is secret of the arguments is in no record: only the server that took the call can run it. */
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
 * A call: one immutable value per state. Times are milliseconds since the epoch,
 * but for deadlines, which are on the steady clock (`Moment`).
 */
export interface Call {
  readonly id: string;
  readonly runId: string;
  readonly toolName: string;
  /** `server`, `client`, or the kind of another provider of tools. */
  readonly source: string;
  readonly status: CallStatus;
  readonly phase: CallPhase | null;
  readonly args: Readonly<Record<string, unknown>>;
  /** What the tool answered, for the model. `undefined` until then; `null` is an answer. */
  readonly result: unknown;
  /** What people are shown in place of `result`, whole. `undefined` when the tool gave none. */
  readonly display: unknown;
  /** The newest that the running tool showed people of its work, whole. */
  readonly preview: unknown;
  readonly error: CallError | null;
  readonly attachments: readonly Attachment[];
  /** Hash of the text of the accepted answer; null when no answer ended the call. A repeated answer mostly has the same. */
  readonly resultHash: string | null;
  readonly lateResult: unknown;
  /** Of the client that has it, or would be asked; what another one says of the tool does not count. */
  readonly annotations: ToolAnnotations;
  readonly timeoutMs: number;
  /** Set when the caller named one client. */
  readonly wantedClientId: string | null;
  readonly routing: Routing;
  readonly provider: Provider | null;
  /**
   * An executor may have started: a claim was granted, the offer went to a client that does not
   * claim, the server's tool was started, or a start of the server found the call offered.
   */
  readonly granted: boolean;
  readonly createdAt: number;
  readonly queuedAt: number | null;
  readonly offeredAt: number | null;
  readonly startedAt: number | null;
  readonly completedAt: number | null;
  /** On the steady clock, when the running clocks end; null for a clock that does not run. */
  readonly deadlines: {
    readonly approval: number | null;
    readonly queue: number | null;
    readonly start: number | null;
    readonly execute: number | null;
    readonly resume: number | null;
    readonly cancel: number | null;
  };
  /**
   * The steady clock when the deadlines were set: what is stored is the time that was left then.
   * Null before the first, and in records of before, whose deadlines are wall times.
   */
  readonly clockMark: number | null;
  /** Milliseconds left of `execute` while the person at the device is asked. */
  readonly executeLeftMs: number | null;
  /** Milliseconds that the person at the device may still be asked, all times together. Not there before the first. */
  readonly deviceLeftMs?: number;
  readonly retryOf: string | null;
  /** The number of the newest event that is in this state; the first is 1. */
  readonly version: number;
  /** Which provider of tools runs it, e.g. `server`, `clients`, `mcp:<name>`. */
  readonly toolProvider: string;
  /** Whether its result is not marked as untrusted; where `source` does not say it. */
  readonly trusted?: boolean | undefined;
  /** The call whose tool made this one. */
  readonly parentCallId: string | null;
  /** How many calls stand above it. */
  readonly depth: number;
  /** Who asked: `operator`, `agent:<name>`, `run:<run id>`. */
  readonly requestedBy: string;
  /** The token of its run's owner, who sees it; null: the operator of the first run, as in records of before. */
  readonly ownerToken: string | null;
  /** What its span stands below, as W3C `traceparent`; not there where nothing came in with it. */
  readonly traceparent?: string | undefined;
  /** What the model that made the call calls it; not there where it gave no usable id. */
  readonly modelCallId?: string | undefined;
  readonly card: Card;
}
