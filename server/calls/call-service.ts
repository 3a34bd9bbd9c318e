import type { Call } from '#lib/call/call';
import type { Actor, PublishedEvent } from '#lib/call/call-event';
import type { CallActionOutcome, InvokeOutcome } from '#lib/call/call-outcome';
import type { CallParent } from '#lib/call/new-call';
import type { CallErrorCode, CallErrorReason } from '#lib/protocol/call-status';
import type { Card } from '#lib/protocol/card';
import type { AlwaysAllowed, Decision } from '../approvals/room.ts';
import type { Principal } from '../auth/room.ts';
import type { CallQuery, Change } from '../store/room.ts';
import type { CallFollowers } from './call-followers.ts';

export interface InvokeRequest {
  readonly principal: Principal;
  /** `name` or `name@client`. */
  readonly tool: string;
  readonly runId: string;
  readonly args: unknown;
  /** It comes over MCP. */
  readonly via?: 'mcp' | undefined;
  /** The only client that may take it. */
  readonly clientId?: string;
  /** Whose person asks, as `askingText` makes it: of several it is asked first. */
  readonly fromClientId?: string | undefined;
  readonly timeoutMs?: number;
  readonly idempotencyKey?: string;
  readonly retryOf?: string;
  /** The call that makes this one. */
  readonly parent?: CallParent;
  /** Its span stands below this one, as `readTraceparent` gives it. */
  readonly traceparent?: string | undefined;
  /** Its caller has no use for the call before the end: `invoke` may take a moment longer. */
  readonly waitsForEnd?: boolean;
  /** It is written in one with the new call, and not at all where there comes to be none. */
  readonly together?: (call: Pick<Call, 'id' | 'toolName'>) => Change;
}

/** A call as a snapshot shows it. `createdAt` is in milliseconds since the epoch. */
export interface ShownCall {
  readonly id: string;
  readonly runId: string;
  readonly createdAt: number;
  readonly card: Card;
  /** Open calls have it. */
  readonly requestedBy?: string;
  readonly ownerToken?: string | null;
}

/** Why a draft ended before it became a call; `invalid_args` without a code. */
export interface AbandonedDraft {
  readonly code?: CallErrorCode;
  readonly reason?: CallErrorReason;
  /** The model wrote this, where that is known. */
  readonly args?: Record<string, unknown>;
}

/** A call whose arguments a model is still writing: a card, and not yet a record. */
export interface DraftCall {
  readonly callId: string;
  /**
   * The arguments as far as people are shown them. Keys that did not change need not be given.
   * `whole` reads them uncut, for the tool's `onPartial`.
   */
  update(
    params: Record<string, unknown>,
    whole?: () => Promise<Record<string, unknown> | undefined>,
  ): void;
  /** Makes it a real call: checks, records, dispatches. A refusal becomes a FAILED record. */
  /** `clientId`: the only client that may take it, or `all`. */
  complete(args: unknown, clientId?: string): Promise<Call>;
  /** Ends it without running anything: a FAILED record with `executed: "no"`. */
  abandon(message: string, why?: AbandonedDraft): Promise<Call>;
}

/**
 * Calls: check, record, dispatch, settle. Every record it returns is on disk.
 * It knows nothing of HTTP, sockets or models.
 */
export interface CallService {
  /** Resolves once the call is on disk, before it has run. */
  invoke(request: InvokeRequest): Promise<InvokeOutcome>;
  /** A card with the phase `streaming`, to be completed or abandoned. */
  draft(request: {
    principal: Principal;
    runId: string;
    tool: string;
    /** The client whose person sent the message that this call serves. */
    fromClientId?: string | undefined;
    /** A sub-agent's call has it. */
    parent?: CallParent | undefined;
    /** It is that of the turn whose call it is. */
    traceparent?: string | undefined;
    /** The model's own id of the call. */
    modelCallId?: string | undefined;
  }): Promise<DraftCall>;
  get(id: string): Promise<Call | undefined>;
  /** True for an id whose call was too old to be kept. */
  wasDeleted(id: string): boolean;
  /** About how many bytes reading its record takes; 0 when that is in memory, or there is none. */
  storedBytes(id: string): Promise<number>;
  /** Gives what happened to a call, in order of the versions above `after`. */
  events(
    id: string,
    page: { readonly after: number; readonly limit: number },
  ): Promise<readonly PublishedEvent[]>;
  list(query: CallQuery): Promise<{ calls: Call[]; nextCursor: string | null }>;
  /**
   * The record once it is final, or as it is after `waitMs`. Undefined: no such call. `beforeRead`
   * is awaited, with `storedBytes`, before the record is read.
   */
  wait(
    id: string,
    waitMs: number,
    signal?: AbortSignal,
    beforeRead?: (bytes: number) => Promise<void>,
  ): Promise<Call | undefined>;
  /** Follows one call, or the calls of one run. Returns a function that ends it. */
  follow: CallFollowers['follow'];
  /** `by`: whose wish it was, for the card. */
  cancel(id: string, reason: string, actor: Actor, by?: string): Promise<CallActionOutcome>;
  /** Calls again with the same arguments, or others; the rest is as in an `InvokeRequest`. */
  retry(
    id: string,
    principal: Principal,
    more?: { args?: unknown } & Pick<InvokeRequest, 'clientId' | 'fromClientId' | 'idempotencyKey'>,
  ): Promise<CallActionOutcome>;
  decide(id: string, principal: Principal, decision: Decision): Promise<CallActionOutcome>;
  /** An operator answers by hand in place of the tool. */
  answer(id: string, principal: Principal, output: unknown): Promise<CallActionOutcome>;
  readonly always: Pick<AlwaysAllowed, 'list' | 'withdraw'>;
  /** Gives a running call more time on its execute clock. */
  extend(id: string, principal: Principal, byMs: number): Promise<CallActionOutcome>;
  /** Open calls and the newest final ones, oldest first, as watchers are shown them. */
  watched(runId?: string): readonly ShownCall[];
  /** The newest final calls of a run, from the store: `watched` may have none of an older run. */
  endedOf(runId: string): Promise<readonly ShownCall[]>;
}

/** A run that a call is to be made in. */
export interface RunClaim {
  /** It is its owner's; null for the operator of the first run. */
  readonly ownerToken: string | null;
  readonly ownerName: string;
  /**
   * Makes the run where it is not there, once for all who claim it; resolves once it is on disk. A
   * call that is refused leaves none.
   */
  write(): Promise<void>;
}

/** Finds the run of an outside agent's call, at once where it is known, or takes its id for the caller. */
export type ClaimRun = (
  runId: string,
  title: string,
  principal: Principal,
) => RunClaim | Promise<RunClaim>;
