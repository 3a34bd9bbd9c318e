import type { IncomingMessage } from 'node:http';
import {
  joinBodySchema,
  joinedSchema,
  lookBodySchema,
  lookSchema,
  outcomeBodySchema,
  outcomeSchema,
} from '#lib/protocol/device';
import type { HttpDeps } from '../http-deps.ts';
import { json } from '../response.ts';
import { defineRoute, type Route } from '../route.ts';

type Deps = Pick<HttpDeps, 'pairing' | 'isForeignPage'>;

const tag = 'pairing';
/** Nothing larger is taken without a credential. */
const MOST_BYTES = 4 * 1024;
const MOST_JOIN_BYTES = 256 * 1024;

/** What a device asks that has no credential yet. */
export const pairingRoutes = ({ pairing, isForeignPage }: Deps): Route[] => {
  const foreignOriginOf = ({ headers }: IncomingMessage) =>
    (isForeignPage(headers) && headers.origin) || null;
  return [
    defineRoute({
      method: 'POST',
      path: '/api/pairing/look',
      id: 'lookAtPairing',
      tag,
      summary: 'Whose workbench a code leads to. A wrong one counts as a try',
      access: 'public',
      body: lookBodySchema,
      maxBodyBytes: MOST_BYTES,
      responses: { 200: { description: 'The workbench', schema: lookSchema } },
      async handle({ body, context }) {
        return json(200, await pairing.look(body.code, context.address));
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/pairing/join',
      id: 'joinPairing',
      tag,
      summary:
        'Ask a person to let this device in: with a code, or as a page of another origin without one. Repeated with the same token_hash it answers the same',
      access: 'public',
      body: joinBodySchema,
      maxBodyBytes: MOST_JOIN_BYTES,
      responses: { 200: { description: 'A person is asked', schema: joinedSchema } },
      async handle({ body, context }) {
        const requester = {
          ...{ address: context.address, userAgent: context.incoming.headers['user-agent'] },
          foreignOrigin: foreignOriginOf(context.incoming),
        };
        return json(200, await pairing.join(body, requester));
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/pairing/outcome',
      id: 'getPairingOutcome',
      tag,
      summary: 'What became of a device that asked, by its token; with wait_ms held while it waits',
      access: 'public',
      body: outcomeBodySchema,
      maxBodyBytes: MOST_BYTES,
      responses: { 200: { description: 'The outcome', schema: outcomeSchema } },
      async handle({ body: { token, wait_ms }, context }) {
        const signal = context.signal();
        return json(200, await pairing.outcome(token, wait_ms, context.address, signal));
      },
    }),
  ];
};
