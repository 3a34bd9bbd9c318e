import { reachSchema } from '#lib/protocol/reach';
import type { HttpDeps } from '../http-deps.ts';
import { json } from '../response.ts';
import { defineRoute, type Route } from '../route.ts';
import { VIEWERS } from './access.ts';

export const reachRoute = ({ reach }: Pick<HttpDeps, 'reach'>): Route =>
  defineRoute({
    method: 'GET',
    path: '/v1/reach',
    id: 'getReach',
    tag: 'system',
    summary:
      'Under which addresses a phone may reach this server, most likely first, and what does not work there',
    access: VIEWERS,
    responses: { 200: { description: 'The addresses', schema: reachSchema } },
    handle: () => json(200, reach()),
  });
