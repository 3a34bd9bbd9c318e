import type { ApprovalReason, PolicyReasonCode, ReadBefore } from '#lib/protocol/approval-reason';
import type { HookNote } from '#lib/protocol/card';
import type { Principal } from '../auth/room.ts';
import type { OfferedTool } from '../tools/room.ts';

/** All hooks together did this to a call before it is made. */
export interface BeforeOutcome {
  /** The hooks changed them so; they are checked against the schema. */
  readonly args?: Record<string, unknown>;
  readonly notes: readonly HookNote[];
  /** The last that did anything. */
  readonly by: string;
  readonly verdict?:
    | { readonly effect: 'deny'; readonly reason: string }
    | { readonly effect: 'ask'; readonly reasons: readonly ApprovalReason[] };
}

/** It has what hooks did before the verdict. */
export type CheckVerdict = Verdict & { readonly hooked?: Omit<BeforeOutcome, 'verdict'> };

type Verdict =
  | {
      readonly verdict: 'allow';
      /** For the client and the tool as they were looked at, and for no other. */
      readonly isBound?: boolean;
      /** For executors whose tool says that it only reads. */
      readonly onlyReads?: true | undefined;
    }
  | {
      readonly verdict: 'ask';
      readonly reason: string;
      readonly code?: PolicyReasonCode;
      readonly readBefore?: ReadBefore;
      /** Each of them, where there are several. */
      readonly reasons?: readonly ApprovalReason[];
      /** A call that was always allowed is asked about, too. */
      readonly isEachTime?: boolean;
    }
  | { readonly verdict: 'deny'; readonly reason: string }
  /** Not now: in `retryAfter` seconds. */
  | { readonly verdict: 'wait'; readonly reason: string; readonly retryAfter: number };

export interface CheckRequest {
  readonly principal: Principal;
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly runId: string;
  /** It comes over MCP. */
  readonly via?: 'mcp' | undefined;
  /** The tool of the executor that would be asked now. */
  readonly tool: ToolFacts & Pick<OfferedTool, 'check' | 'withhold'>;
}

/** The policy goes by these facts of a tool. */
export type ToolFacts = Pick<
  OfferedTool,
  'origin' | 'clientId' | 'annotations' | 'schemaHash' | 'configured' | 'unchecked'
>;

/** A call that was made, whose tool may be offered by no one now. */
export interface DenialRequest extends Omit<CheckRequest, 'tool'> {
  readonly tool: ToolFacts;
}

/**
 * May this call be made? The one seam for policy, hooks and approvals. It sees
 * arguments that were checked and mended, and it decides before anything runs.
 * A verdict that needs nothing from outside is given at once, not as a promise.
 */
export type Check = (request: CheckRequest) => CheckVerdict | Promise<CheckVerdict>;

/** Hooks look at arguments that a person wrote in place of the call's; undefined: they do nothing. At once where there are none. */
export type CheckEdit = (request: CheckRequest) => Promise<BeforeOutcome | undefined> | undefined;

/** Why no yes of a person helps the call: what the policy denies to `principal`, who decides or who made the call. */
export type Denial = (request: DenialRequest) => string | undefined;
