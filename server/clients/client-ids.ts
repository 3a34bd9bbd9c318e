import { keepNewest } from '#lib/limits/keep-newest';
import { isAllClients } from '#lib/protocol/tool-name';
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
import type { ClientTable } from './client-table.ts';

export type ClientIds = ReturnType<typeof createClientIds>;

/**
 * Which client ids may still be taken by naming them (rule ID1). An id belongs to a client from its
 * first use on: it is connected, or remembered. Ids of the form that the server makes are never chosen by others,
 * since the id of a client without a hello is not remembered.
 */
export function createClientIds(deps: {
  store: Pick<Store, 'clientOwner'>;
  table: Pick<ClientTable, 'hasClient'>;
  isMadeHere(clientId: string): boolean;
}) {
  const beingTaken = new Set<string>();

  return {
    /** Takes an id that no client has or had, until `release`. False when it is not free, and while another newcomer is taking it. */
    async take(clientId: string): Promise<boolean> {
      if (deps.isMadeHere(clientId) || beingTaken.has(clientId)) return false;
      // It stands for each client where one is named.
      if (isAllClients(clientId) || deps.table.hasClient(clientId)) return false;
      beingTaken.add(clientId);
      let isFree = false;
      try {
        isFree = (await deps.store.clientOwner(clientId)) === undefined;
        return isFree;
      } finally {
        if (!isFree) beingTaken.delete(clientId);
      }
    },
    /** The store has the client of that id now, or will not have it. */
    release: (clientId: string) => void beingTaken.delete(clientId),
  };
}

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
    const address = viaOf(principal)?.address ?? 'unknown';
    const detail = { reason: 'the client id belongs to another token' };
    const act = { act: 'client_id_refused', target: clientId, detail } as const;
    await deps.audit.record(byCaller(callerOf(principal), address, act));
  }

  function isNew(pair: string): boolean {
    if (known.has(pair)) return false;
    known.add(pair);
    keepNewest(known, MOST_KNOWN);
    return true;
  }

  return (principal, clientId) => {
    note(principal, clientId).catch(deps.logger.error);
  };
}
