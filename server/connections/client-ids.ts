import { isAllClients } from '#lib/protocol/tool-name';
import type { Store } from '../store/room.ts';
import type { ClientTable } from './client-table.ts';

/** Which client ids may still be taken by naming them (rule ID1). */
export interface ClientIds {
  /**
   * Takes an id that no client has or had. Undefined when it is not free, and while
   * another newcomer is taking it. Call the function once the store has the client.
   */
  take(clientId: string): Promise<(() => void) | undefined>;
}

/**
 * An id belongs to a client from its first use on: it is connected, or
 * remembered. Ids of the form that the server makes are never chosen by others,
 * since the id of a client without a hello is not remembered.
 */
export function createClientIds(deps: {
  store: Pick<Store, 'hasClient'>;
  table: Pick<ClientTable, 'hasClient'>;
  isMadeHere(clientId: string): boolean;
}): ClientIds {
  const beingTaken = new Set<string>();

  return {
    async take(clientId) {
      if (deps.isMadeHere(clientId) || beingTaken.has(clientId)) return undefined;
      // It stands for each client where one is named.
      if (isAllClients(clientId)) return undefined;
      if (deps.table.hasClient(clientId)) return undefined;
      beingTaken.add(clientId);
      const done = () => void beingTaken.delete(clientId);
      try {
        if (!(await deps.store.hasClient(clientId))) return done;
      } catch (error) {
        done();
        throw error;
      }
      done();
      return undefined;
    },
  };
}
