import {
  blockedOriginQuerySchema,
  blockedOriginsSchema,
  openedPairingSchema,
  pairingDecisionBodySchema,
  pairingSchema,
  pairingsSchema,
} from '#lib/protocol/device';
import { okSchema } from '#lib/protocol/rest';
import type { HttpDeps } from '../http-deps.ts';
import { json } from '../response.ts';
import { defineRoute, type Route } from '../route.ts';
import { OPERATORS, VIEWERS } from './access.ts';
import { askedBy } from './asked-by.ts';

const path = '/v1/pairings';
const tag = 'devices';

type Deps = Pick<HttpDeps, 'pairing'>;

/** What people decide on devices that ask. */
export const pairingsRoutes = (deps: Deps): Route[] => [
  ...decisionRoutes(deps),
  ...blockRoutes(deps),
];

const decisionRoutes = ({ pairing }: Deps): Route[] => [
  defineRoute({
    method: 'POST',
    path,
    id: 'openPairing',
    tag,
    summary:
      'A code for one device, for ten minutes. It is in this response and nowhere else, also as links for a QR code',
    access: OPERATORS,
    responses: { 201: { description: 'The pairing and its code', schema: openedPairingSchema } },
    async handle(asked) {
      const { incoming, isSecure } = asked.context;
      const { host } = incoming.headers;
      const origin = host && `${isSecure ? 'https' : 'http'}://${host}`;
      return json(201, await pairing.open(askedBy(asked), origin));
    },
  }),
  defineRoute({
    method: 'GET',
    path,
    id: 'listPairings',
    tag,
    summary: 'Pairings that are open or ask, and those that ended in the last ten minutes',
    access: VIEWERS,
    responses: { 200: { description: 'The pairings, newest first', schema: pairingsSchema } },
    handle: () => json(200, { pairings: pairing.list() }),
  }),
  defineRoute({
    method: 'POST',
    path: `${path}/:id/decision`,
    id: 'decidePairing',
    tag,
    summary: 'Let the device in that asks, with the tools that it may offer, or refuse it',
    access: OPERATORS,
    body: pairingDecisionBodySchema,
    responses: { 200: { description: 'The pairing after it', schema: pairingSchema } },
    handle: async (asked) =>
      json(200, await pairing.decide(asked.params.id, asked.body, askedBy(asked))),
  }),
  defineRoute({
    method: 'DELETE',
    path: `${path}/:id`,
    id: 'withdrawPairing',
    tag,
    summary: 'Make a code void that is open, or refuse the device that asks by it',
    access: OPERATORS,
    responses: { 200: { description: 'The pairing after it', schema: pairingSchema } },
    handle: async (asked) => json(200, await pairing.withdraw(asked.params.id, askedBy(asked))),
  }),
];

const blockRoutes = ({ pairing }: Deps): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/v1/blocked-origins',
    id: 'listBlockedOrigins',
    tag,
    summary: 'Origins of pages that may not ask to be let in',
    access: VIEWERS,
    responses: { 200: { description: 'The origins', schema: blockedOriginsSchema } },
    handle: () => json(200, { origins: pairing.blocked.list() }),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/v1/blocked-origins',
    id: 'unblockOrigin',
    tag,
    summary: 'Let pages of this origin ask again',
    access: OPERATORS,
    query: blockedOriginQuerySchema,
    responses: { 200: { description: 'They may ask', schema: okSchema } },
    async handle(asked) {
      await pairing.blocked.lift(asked.query.origin, askedBy(asked));
      return json(200, { ok: true });
    },
  }),
];
