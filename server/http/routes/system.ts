import { HttpError } from '#lib/protocol/http-error';
import { healthSchema } from '#lib/protocol/rest';
import type { HttpDeps } from '../http-deps.ts';
import { json } from '../response.ts';
import { defineRoute, type Route } from '../route.ts';
import { EVERYONE, VIEWERS } from './access.ts';

const tag = 'system';

export const systemRoutes = (
  deps: Pick<HttpDeps, 'ready' | 'metrics'> & { readonly openApi: () => string },
): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/healthz',
    id: 'isAlive',
    tag,
    summary: 'Whether the process is alive',
    access: 'public',
    responses: { 200: { description: 'It is', schema: healthSchema } },
    handle: () => json(200, { status: 'alive' }),
  }),
  defineRoute({
    method: 'GET',
    path: '/readyz',
    id: 'isReady',
    tag,
    summary: 'Whether it accepts calls',
    access: 'public',
    responses: { 200: { description: 'It does', schema: healthSchema } },
    handle() {
      const ready = deps.ready();
      if (!ready.ok) throw new HttpError(ready.code, ready.message);
      return json(200, { status: 'ready' });
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/openapi.json',
    id: 'getOpenApi',
    tag,
    summary: 'This reference, as OpenAPI 3.1',
    access: EVERYONE,
    responses: { 200: { description: 'The document' } },
    handle: () => ({
      status: 200,
      body: deps.openApi(),
      headers: { 'content-type': 'application/json' },
    }),
  }),
  defineRoute({
    method: 'GET',
    path: '/metrics',
    id: 'getMetrics',
    tag,
    summary: 'Counters, gauges and histograms for Prometheus',
    access: VIEWERS,
    responses: { 200: { description: 'Prometheus text' } },
    handle: () => ({
      status: 200,
      body: deps.metrics(),
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
    }),
  }),
];
