import type { HookNote } from '#lib/protocol/card';
import type { Principal } from '../auth/principal.ts';
import type { OfferedTool } from '../tools/tool-registry.ts';

/** What hooks did before the verdict. */
interface Hooked {
  readonly hooked?: {
    /** As they changed them, checked against the schema. */
    readonly args?: Record<string, unknown>;
    readonly notes: readonly HookNote[];
    /** The last that did anything. */
    readonly by: string;
  };
}

export type CheckVerdict = Hooked & Verdict;

type Verdict =
  | {
      readonly verdict: 'allow';
      /** For the client and the tool as they were looked at, and for no other. */
      readonly isBound?: boolean;
    }
  | {
      readonly verdict: 'ask';
      readonly reason: string;
      readonly code?: 'policy';
      /** What was always allowed is asked about, too. */
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
  /** The tool of the executor that would be asked now. */
  readonly tool: Pick<OfferedTool, 'clientId' | 'annotations' | 'schemaHash' | 'check'>;
}

/**
 * May this call be made? The one seam for policy, hooks and approvals. It sees
 * arguments that were checked and mended, and it decides before anything runs.
 * A verdict that needs nothing from outside is given at once, not as a promise.
 */
export type Check = (request: CheckRequest) => CheckVerdict | Promise<CheckVerdict>;

/** Why no yes of a person helps the call: what the policy denies to `principal`, who decides or who made the call. */
export type Denial = (request: CheckRequest) => string | undefined;
