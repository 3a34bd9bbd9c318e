import { type Audit, byCaller } from '../auth/audit.ts';
import { callerOf, type Principal, principalKey, viaOf } from '../auth/principal.ts';
import type { Logger } from '../logger.ts';
import type { Store } from '../store/store.ts';

/** Claims that were looked at already; the oldest is forgotten. */
const MOST_KNOWN = 1_000;

/** Writes down who named the client id of another principal, once for each of both. */
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
    const by = byCaller(callerOf(principal), viaOf(principal)?.address ?? 'unknown');
    const detail = { reason: 'the client id belongs to another token' };
    await deps.audit.record({ ...by, act: 'client_id_refused', target: clientId, detail });
  }

  return (principal, clientId) => {
    const claim = JSON.stringify([principalKey(principal), clientId]);
    if (known.has(claim)) return;
    known.add(claim);
    const [oldest] = known;
    if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
    note(principal, clientId).catch(deps.logger.error);
  };
}
