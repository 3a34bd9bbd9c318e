import { CLOSE } from '#lib/protocol/close-codes';
import { type EventBus, instanceAddress } from '../events/room.ts';
import type { ClientTable } from './client-table.ts';

/** Closes every connection of a client; resolves with how many there were. Its program does not come back by itself. */
export type DisconnectClient = (clientId: string) => Promise<number>;

export const createDisconnectClient =
  (deps: {
    readonly bus: Pick<EventBus, 'deliver'>;
    readonly table: Pick<ClientTable, 'instanceIds'>;
  }): DisconnectClient =>
  async (clientId) => {
    const reason = 'A person disconnected it';
    const delivered = await Promise.all(
      deps.table.instanceIds(clientId).map((instanceId) =>
        deps.bus.deliver(instanceAddress(clientId, instanceId), {
          ...{ type: 'close', code: CLOSE.disconnected, reason },
        }),
      ),
    );
    return delivered.filter(Boolean).length;
  };
