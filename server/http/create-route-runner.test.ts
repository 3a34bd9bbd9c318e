import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { createInboundBudget } from '../sockets/inbound-budget.ts';
import { FairOutboundBudget } from '../sockets/outbound-budget.ts';
import { createErrorLog } from '../testing/error-log.ts';
import { createRouteRunner } from './create-route-runner.ts';
import { json } from './response.ts';
import { defineRoute } from './route.ts';

test('[HT48] a public route looks at no credential, and its caller is anonymous', async () => {
  const run = createRouteRunner({
    credentials: {
      authenticate: () => {
        throw new Error('not asked for');
      },
    },
    inbound: createInboundBudget({ clock: createManualClock() }),
    outbound: new FairOutboundBudget({ clock: createManualClock() }),
    tokens: { onRevoked: () => () => {} },
    logger: createErrorLog().logger,
  });
  const kinds: string[] = [];
  const route = defineRoute({
    method: 'GET',
    path: '/healthz',
    id: 'isAlive',
    tag: 'system',
    summary: 'Whether the process is alive',
    access: 'public',
    responses: {},
    handle({ principal }) {
      kinds.push(principal.kind);
      return json(200, {});
    },
  });
  const incoming = new IncomingMessage(new Socket());
  await run(route, {}, incoming, new ServerResponse(incoming), '');
  expect(kinds).toEqual(['anonymous']);
});
