import type { MessageAuthor, RunOwner, RunSummary } from '#lib/protocol/run';
import { type Caller, callerOf, ownsRun, type Principal, principalName } from '../auth/room.ts';

/** Undefined: the operator of the first run. */
export function ownerOf(principal: Principal): RunOwner | undefined {
  const caller = callerOf(principal);
  return caller.tokenId === null
    ? undefined
    : { name: principalName(caller), token_id: caller.tokenId };
}

/** The person who writes in the run; undefined where that is its owner. */
export const authorIn = (run: RunSummary, by: Caller): MessageAuthor | undefined =>
  ownsRun(by, run) ? undefined : { name: principalName(by), token_id: by.tokenId };

/** One whose token was revoked may do nothing. */
export const callerOfAuthor = (owners: OwnerTokens, author: MessageAuthor): Caller => {
  const { name, token_id: tokenId } = author;
  const revoked = { kind: 'operator', name, role: 'viewer', tokenId, sessionId: null } as const;
  return owners.callerOf(tokenId) ?? revoked;
};

/** The tokens of those who own runs. */
export interface OwnerTokens {
  /** Null is that of the first run. Undefined once it is revoked. */
  callerOf(tokenId: string | null): Caller | undefined;
  onRevoked(listener: (tokenId: string) => void): () => void;
}
