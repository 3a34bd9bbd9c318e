import { HttpError } from '#lib/protocol/http-error';
import {
  clientPathSchema,
  registerAnswerSchema,
  registerBodySchema,
  requestsAnswerSchema,
  submitAnswerSchema,
  submitBodySchema,
  waitQuerySchema,
} from '#lib/protocol/rest';
import type { Principal } from '../../auth/room.ts';
import { CLIENTS } from '../../doors/room.ts';
import type { HttpDeps } from '../http-deps.ts';
import { checkShape } from '../read-body.ts';
import { OK } from '../response.ts';
import { type Route, routesOf } from '../route.ts';

const route = routesOf('clients without a socket');

/** Contract, section 7. */
export const internalRoutes = (deps: HttpDeps): Route[] => [
  route('POST', '/internal/tools/register', {
    id: 'registerTools',
    summary: 'Register tools as a client that polls',
    access: CLIENTS,
    body: registerBodySchema,
    answers: ['What was accepted', registerAnswerSchema],
    async handle({ principal, body, bodyBytes, context }) {
      checkOwnClient(principal, body.client_id);
      // Its tools wait for one another and those of others (TR18), and are in memory until then.
      const held = context.inbound.open(COMPLETE);
      held.set({ arriving: 0, waiting: bodyBytes });
      const registered = await deps.clients
        .register(principal, body)
        .finally(() => held.set({ arriving: 0, waiting: 0 }));
      return { ...OK, ...registered };
    },
  }),
  route('GET', '/internal/clients/:client_id/requests', {
    id: 'takeRequests',
    summary:
      'The calls for this client. With wait_ms held until there is one; asking keeps it alive',
    access: CLIENTS,
    query: waitQuerySchema,
    answers: ['The calls', requestsAnswerSchema],
    async handle({ principal, params, query, context }) {
      const { client_id } = checkShape(clientPathSchema, params, 'path');
      checkOwnClient(principal, client_id);
      const waitMs = query.wait_ms ?? 0;
      const signal = context.signal();
      const requests = await deps.clients.requests(principal, client_id, waitMs, signal);
      return { requests };
    },
  }),
  route('POST', '/internal/tool_calls/:id/submit', {
    id: 'submitResult',
    summary: 'The result of a call; only for the client that was asked',
    access: CLIENTS,
    body: submitBodySchema,
    answers: ['Durable', submitAnswerSchema],
    async handle({ principal, params, body, context }) {
      await context.makeRoom(await deps.calls.storedBytes(params.id));
      const status = await deps.clients.submit(principal, params.id, body);
      return { ...OK, tool_call_id: params.id, status };
    },
  }),
];

/** A body that has arrived. */
const COMPLETE = { pause() {}, resume() {}, cut() {} };

/** A device speaks for itself alone (contract, section 4). */
function checkOwnClient(principal: Principal, clientId: string): void {
  if (principal.kind !== 'device' || principal.clientId === clientId) return;
  throw new HttpError(
    'permission_denied',
    `This token belongs to the client ${JSON.stringify(principal.clientId)} and may speak for no other.`,
  );
}
