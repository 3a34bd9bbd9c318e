import { createEmitter } from '#lib/util/emitter';
import { type Caller, FIRST_OPERATOR } from '../../auth/principal.ts';
import type { OwnerTokens } from '../run-owner.ts';

/** Tokens that are what a test put there, beside that of the first run. */
export function createOwnerTokens() {
  const callers = new Map<string | null, Caller>([[null, FIRST_OPERATOR]]);
  const revocations = createEmitter<string>();
  const owners: OwnerTokens = {
    callerOf: (tokenId) => callers.get(tokenId),
    onRevoked: (listener) => revocations.subscribe(listener),
  };
  return {
    owners,
    add(caller: Caller): void {
      callers.set(caller.tokenId, caller);
    },
    revoke(tokenId: string): void {
      callers.delete(tokenId);
      revocations.emit(tokenId);
    },
  };
}
