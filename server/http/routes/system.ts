import { HttpError } from '#lib/protocol/http-error';
import { reachSchema } from '#lib/protocol/reach';
import { healthSchema } from '#lib/protocol/rest';
import { EVERYONE, VIEWERS } from '../../doors/room.ts';
import type { HttpDeps, Readiness } from '../http-deps.ts';
import { type Route, routesOf } from '../route.ts';

const route = routesOf('system');

export const systemRoutes = (deps: HttpDeps, openApi: () => string): Route[] => [
  route('GET', '/healthz', {
    id: 'isAlive',
    summary: 'Whether the process is alive',
    access: 'public',
    answers: ['It is', healthSchema],
    handle: () => ({ status: 'alive' }),
  }),
  route('GET', '/readyz', {
    id: 'isReady',
    summary: 'Whether it accepts calls',
    access: 'public',
    answers: ['It does', healthSchema],
    handle() {
      const ready = deps.ready();
      if (!ready.ok) throw new HttpError(ready.code, ready.message);
      return { status: 'ready' };
    },
  }),
  route('GET', '/openapi.json', {
    id: 'getOpenApi',
    summary: 'This reference, as OpenAPI 3.1',
    access: EVERYONE,
    responses: { 200: { description: 'The document' } },
    handle: () => ({
      status: 200,
      body: openApi(),
      headers: { 'content-type': 'application/json' },
    }),
  }),
  route('GET', '/metrics', {
    id: 'getMetrics',
    summary: 'Counters, gauges and histograms for Prometheus',
    access: VIEWERS,
    responses: { 200: { description: 'Prometheus text' } },
    handle: () => ({
      status: 200,
      body: deps.metrics(),
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
    }),
  }),
  route('GET', '/v1/reach', {
    id: 'getReach',
    summary:
      'Under which addresses a phone may reach this server, most likely first, and what does not work there',
    access: VIEWERS,
    answers: ['The addresses', reachSchema],
    handle: () => deps.reach(),
  }),
];

/** Says whether calls are taken, and if not, why: the answer of `/readyz`. */
export function readiness(storeFailed: boolean, stopping: boolean): Readiness {
  if (stopping) return { ok: false, code: 'shutting_down', message: 'The server is stopping' };
  if (!storeFailed) return { ok: true };
  const message = 'The record cannot be written; the server accepts no calls until it is restarted';
  return { ok: false, code: 'store_failed', message };
}
