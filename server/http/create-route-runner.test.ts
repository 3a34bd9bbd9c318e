import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { type Caller, FIRST_OPERATOR } from '../auth/principal.ts';
import { InboundBudget } from '../sockets/inbound.ts';
import { OutboundBudget } from '../sockets/outbound-budget.ts';
import { createErrorLog } from '../testing/error-log.ts';
import { createRouteRunner } from './create-route-runner.ts';
import { json } from './response.ts';
import { routesOf } from './route.ts';

test('[HT95] of a token so many requests wait at most, and one that is answered makes room', async () => {
  const bot: Caller = { kind: 'agent', name: 'bot', tokenId: 'tok_bot', tools: [] };
  let caller: Caller = bot;
  const run = createRouteRunner({
    peerOf: () => ({ address: '192.0.2.1', isSecure: false }),
    credentials: { authenticate: async () => caller },
    connections: { keep: () => {} },
    inbound: new InboundBudget({ clock: createManualClock() }),
    untrustedInbound: new InboundBudget({ clock: createManualClock() }),
    outbound: new OutboundBudget({ clock: createManualClock() }),
    tokens: { onRevoked: () => () => {} },
    answered: () => {},
    mostOpen: 2,
    logger: createErrorLog().logger,
  });
  const held: PromiseWithResolvers<void>[] = [];
  const route = routesOf('test')('GET', '/v1/wait', {
    ...{ id: 'wait', tag: 'calls', summary: 'Waits' },
    access: { role: 'viewer', also: ['agent'] },
    responses: {},
    async handle() {
      const one = Promise.withResolvers<void>();
      held.push(one);
      await one.promise;
      return json(200, {});
    },
  });
  const ask = () => {
    const incoming = new IncomingMessage(new Socket());
    const outgoing = new ServerResponse(incoming);
    return { outgoing, done: run(route, {}, incoming, outgoing, { search: '' }) };
  };
  const [first] = [ask(), ask()];
  await expect.poll(() => held.length).toBe(2);
  const third = ask();
  await third.done;
  expect(third.outgoing.statusCode).toBe(429);
  for (const other of [{ ...bot, tokenId: 'tok_other' }, FIRST_OPERATOR, FIRST_OPERATOR]) {
    caller = other;
    ask();
  }
  await expect.poll(() => held.length).toBe(5);
  caller = bot;
  held[0]?.resolve();
  await first?.done;
  first?.outgoing.emit('close');
  ask();
  await expect.poll(() => held.length).toBe(6);
});
