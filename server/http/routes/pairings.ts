import {
  blockedOriginQuerySchema,
  blockedOriginsSchema,
  joinBodySchema,
  joinedSchema,
  lookBodySchema,
  lookSchema,
  openedPairingSchema,
  outcomeBodySchema,
  outcomeSchema,
  pairingDecisionBodySchema,
  pairingSchema,
  pairingsSchema,
} from '#lib/protocol/device';
import { okSchema } from '#lib/protocol/rest';
import { OPERATORS, VIEWERS } from '../../doors/room.ts';
import type { HttpDeps } from '../http-deps.ts';
import { OK } from '../response.ts';
import { type Route, routesOf } from '../route.ts';
import { askedBy } from './access.ts';

const path = '/v1/pairings';
const route = routesOf('devices');
const pairingRoute = routesOf('pairing');

/** Nothing larger is taken without a credential. */
const MOST_BYTES = 4 * 1024;
const MOST_JOIN_BYTES = 256 * 1024;

/** How a device asks to be let in, which it does without a credential, and what people decide on it. */
export const pairingRoutes = ({ pairing, isForeignPage }: HttpDeps): Route[] => [
  pairingRoute('POST', '/api/pairing/look', {
    id: 'lookAtPairing',
    summary: 'Whose workbench a code leads to. A wrong one counts as a try',
    access: 'public',
    body: lookBodySchema,
    maxBodyBytes: MOST_BYTES,
    answers: ['The workbench', lookSchema],
    async handle({ body, context }) {
      return await pairing.look(body.code, context.address);
    },
  }),
  pairingRoute('POST', '/api/pairing/join', {
    id: 'joinPairing',
    summary:
      'Ask a person to let this device in: with a code, or as a page of another origin without one. Repeated with the same token_hash it answers the same',
    access: 'public',
    body: joinBodySchema,
    maxBodyBytes: MOST_JOIN_BYTES,
    answers: ['A person is asked', joinedSchema],
    async handle({ body, context }) {
      const { headers } = context.incoming;
      const requester = {
        address: context.address,
        userAgent: headers['user-agent'],
        foreignOrigin: (isForeignPage(headers) && headers.origin) || null,
      };
      return await pairing.join(body, requester);
    },
  }),
  pairingRoute('POST', '/api/pairing/outcome', {
    id: 'getPairingOutcome',
    summary: 'What became of a device that asked, by its token; with wait_ms held while it waits',
    access: 'public',
    body: outcomeBodySchema,
    maxBodyBytes: MOST_BYTES,
    answers: ['The outcome', outcomeSchema],
    async handle({ body: { token, wait_ms }, context }) {
      const signal = context.signal();
      return await pairing.outcome(token, wait_ms, context.address, signal);
    },
  }),
  route('POST', path, {
    id: 'openPairing',
    summary:
      'A code for one device, for ten minutes. It is in this response and nowhere else, also as links for a QR code',
    access: OPERATORS,
    answers: ['The pairing and its code', openedPairingSchema, 201],
    async handle(asked) {
      const { incoming, isSecure } = asked.context;
      const { host } = incoming.headers;
      const origin = host && `${isSecure ? 'https' : 'http'}://${host}`;
      return await pairing.open(askedBy(asked), origin);
    },
  }),
  route('GET', path, {
    id: 'listPairings',
    summary: 'Pairings that are open or ask, and those that ended in the last ten minutes',
    access: VIEWERS,
    answers: ['The pairings, newest first', pairingsSchema],
    handle: () => ({ pairings: pairing.list() }),
  }),
  route('POST', `${path}/:id/decision`, {
    id: 'decidePairing',
    summary: 'Let the device in that asks, with the tools that it may offer, or refuse it',
    access: OPERATORS,
    body: pairingDecisionBodySchema,
    answers: ['The pairing after it', pairingSchema],
    handle: async (asked) => await pairing.decide(asked.params.id, asked.body, askedBy(asked)),
  }),
  route('DELETE', `${path}/:id`, {
    id: 'withdrawPairing',
    summary: 'Make a code void that is open, or refuse the device that asks by it',
    access: OPERATORS,
    answers: ['The pairing after it', pairingSchema],
    handle: async (asked) => await pairing.withdraw(asked.params.id, askedBy(asked)),
  }),
  route('GET', '/v1/blocked-origins', {
    id: 'listBlockedOrigins',
    summary: 'Origins of pages that may not ask to be let in',
    access: VIEWERS,
    answers: ['The origins', blockedOriginsSchema],
    handle: () => ({ origins: pairing.blocked.list() }),
  }),
  route('DELETE', '/v1/blocked-origins', {
    id: 'unblockOrigin',
    summary: 'Let pages of this origin ask again',
    access: OPERATORS,
    query: blockedOriginQuerySchema,
    answers: ['They may ask', okSchema],
    async handle(asked) {
      await pairing.blocked.lift(asked.query.origin, askedBy(asked));
      return OK;
    },
  }),
];
