import type { RunOwner } from '#lib/protocol/run';
import { type Caller, callerOf, type Principal, principalName } from '../auth/principal.ts';

/** Undefined: the operator of the first run. */
export function ownerOf(principal: Principal): RunOwner | undefined {
  const caller = callerOf(principal);
  return caller.tokenId === null
    ? undefined
    : { name: principalName(caller), token_id: caller.tokenId };
}

/** The tokens of those who own runs. */
export interface OwnerTokens {
  /** Null is that of the first run. Undefined once it is revoked. */
  callerOf(tokenId: string | null): Caller | undefined;
  onRevoked(listener: (tokenId: string) => void): () => void;
}
