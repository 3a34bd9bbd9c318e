import type { ReadBefore } from '../protocol/approval-reason.ts';
import type { CallOrigin, PolicyEffect } from './policy-definition.ts';

/** A call that is about to be made: who, how, which tool at which executor, with what. */
export interface PolicyQuestion {
  /** The one who calls, or for whom the built-in agent does. Operators alone have a `role`. */
  readonly caller: {
    readonly kind: 'operator' | 'agent' | 'device';
    readonly name: string;
    readonly role?: string | undefined;
  };
  readonly via: CallOrigin;
  readonly toolName: string;
  /** The client that would be asked now; null for tools that run inside the server. */
  readonly clientId: string | null;
  /** `server`, `client`, or the kind of another provider of tools. */
  readonly source: string;
  /** The tool's description and its results are not the server's own. */
  readonly isUntrusted: boolean;
  /** That executor annotates the tool so. */
  readonly access: 'read' | 'write';
  /** It says of itself that it may destroy something. */
  readonly destructive?: boolean | undefined;
  readonly schemaHash: string;
  /** The configuration of its provider says so; `isDefault` where it says nothing of the tool. */
  readonly configured?: { readonly effect: PolicyEffect; readonly isDefault?: true } | undefined;
  /** Its run has read this; present where it is private and untrusted and an agent makes the call. */
  readonly taint?: ReadBefore | undefined;
  /** That executor could carry it out. */
  readonly isWayOut?: boolean;
  /** The schema of that executor has a part that cannot be checked: no rule allows by arguments. */
  readonly hasUncheckedArgs?: boolean;
  /** They were checked against the schema, and repaired. */
  readonly args: Readonly<Record<string, unknown>>;
}

/** A person makes the call; what a program decides, the built-in agent's or another, is none. */
export const isByHand = ({ caller, via }: Pick<PolicyQuestion, 'caller' | 'via'>): boolean =>
  via === 'http' && caller.kind === 'operator';
