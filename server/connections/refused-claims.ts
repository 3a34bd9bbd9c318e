import {
  type Audit,
  byCaller,
  callerOf,
  type Principal,
  principalKey,
  viaOf,
} from '../auth/room.ts';
import type { Logger } from '../base/logger.ts';
import type { Store } from '../store/room.ts';

/** Pairs that are in the audit already; the oldest is forgotten. */
const MOST_KNOWN = 1_000;

/** Puts into the audit who named a client id of another principal, once for each pair of both principals (DV44). */
export function createRefusedClaims(deps: {
  readonly store: Pick<Store, 'clientOwner'>;
  readonly audit: Pick<Audit, 'record'>;
  readonly logger: Logger;
}): (principal: Principal, clientId: string) => void {
  const known = new Set<string>();

  async function note(principal: Principal, clientId: string): Promise<void> {
    const owner = (await deps.store.clientOwner(clientId)) ?? null;
    // A tab of the same person that was copied, or has lost its token, claims nothing of others.
    if (owner === null || owner === principalKey(principal)) return;
    if (!isNew(JSON.stringify([owner, principalKey(principal)]))) return;
    const by = byCaller(callerOf(principal), viaOf(principal)?.address ?? 'unknown');
    const detail = { reason: 'the client id belongs to another token' };
    await deps.audit.record({ ...by, act: 'client_id_refused', target: clientId, detail });
  }

  function isNew(pair: string): boolean {
    if (known.has(pair)) return false;
    known.add(pair);
    const [oldest] = known;
    if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
    return true;
  }

  return (principal, clientId) => {
    note(principal, clientId).catch(deps.logger.error);
  };
}
