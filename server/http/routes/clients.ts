import { HttpError } from '#lib/protocol/http-error';
import { disconnectedSchema } from '#lib/protocol/rest';
import { byCaller } from '../../auth/room.ts';
import type { HttpDeps } from '../http-deps.ts';
import { json } from '../response.ts';
import { defineRoute, type Route } from '../route.ts';
import { OPERATORS } from './access.ts';

/** Taking a client off, whether it was paired or not. */
export const disconnectRoute = ({
  disconnect,
  audit,
}: Pick<HttpDeps, 'disconnect' | 'audit'>): Route =>
  defineRoute({
    method: 'POST',
    path: '/v1/clients/:id/disconnect',
    id: 'disconnectClient',
    tag: 'devices',
    summary: 'Close the connections of a client. It does not come back by itself',
    access: OPERATORS,
    responses: { 200: { description: 'How many there were', schema: disconnectedSchema } },
    async handle({ principal, params: { id }, context: { address } }) {
      const connections = await disconnect(id);
      if (connections === 0) {
        const shown = JSON.stringify(id.slice(0, 128));
        throw new HttpError('not_found', `No client ${shown} is connected.`);
      }
      const by = byCaller(principal, address);
      await audit.record({
        ...by,
        act: 'client_disconnected',
        target: id,
        detail: { connections },
      });
      return json(200, { ok: true, connections });
    },
  });
