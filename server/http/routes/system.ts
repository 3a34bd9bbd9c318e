import { HttpError } from '#lib/protocol/http-error';
import { healthSchema } from '#lib/protocol/rest';
import { json } from '../answer.ts';
import type { HttpDeps } from '../http-deps.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { OPERATORS } from './access.ts';

const tag = 'system';

export const systemOperations = (
  deps: Pick<HttpDeps, 'ready' | 'metrics'> & { readonly openApi: () => string },
): Operation[] => [
  defineOperation({
    method: 'GET',
    path: '/healthz',
    id: 'isAlive',
    tag,
    summary: 'Whether the process lives',
    access: 'open',
    answers: { 200: { description: 'It does', schema: healthSchema } },
    handle: () => json(200, { status: 'alive' }),
  }),
  defineOperation({
    method: 'GET',
    path: '/readyz',
    id: 'isReady',
    tag,
    summary: 'Whether it takes work',
    access: 'open',
    answers: { 200: { description: 'It does', schema: healthSchema } },
    handle() {
      const ready = deps.ready();
      if (!ready.ok) throw new HttpError(ready.code, ready.message);
      return json(200, { status: 'ready' });
    },
  }),
  defineOperation({
    method: 'GET',
    path: '/openapi.json',
    id: 'getOpenApi',
    tag,
    summary: 'This reference, as OpenAPI 3.1',
    access: ['operator', 'agent', 'device'],
    answers: { 200: { description: 'The document' } },
    handle: () => ({
      status: 200,
      body: deps.openApi(),
      headers: { 'content-type': 'application/json' },
    }),
  }),
  defineOperation({
    method: 'GET',
    path: '/metrics',
    id: 'getMetrics',
    tag,
    summary: 'Gauges for Prometheus',
    access: OPERATORS,
    answers: { 200: { description: 'Prometheus text' } },
    handle: () => ({
      status: 200,
      body: deps.metrics(),
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
    }),
  }),
];
