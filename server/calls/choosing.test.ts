import { expect, test } from 'vitest';
import { type Call, NO_ROUTING, type Routing } from '#lib/call/call';
import { sampleCall, sampleProvider } from '#lib/call/testing/sample-call';
import { createPool } from '../clients/testing/create-pool.ts';
import { registerTools } from '../tools/testing/register-tools.ts';
import { Router } from './router.ts';

const CLIENTS = 1_000;

/** A pool of one tool, and how many of its clients a choice looked at. */
function setup() {
  const { registry, table } = createPool({ now: () => 1 });
  for (let n = 0; n < CLIENTS; n += 1) {
    const [clientId, instanceId] = [`c${n}`, `i${n}`];
    table.add({
      ...{ clientId, instanceId, name: clientId, kind: 'program', caps: ['claim'] },
      ...{ journalEpoch: null, visible: true, responsive: true, permissions: undefined },
      ...{ secureContext: undefined, connectedAt: CLIENTS - n },
    });
    const tool = { name: 'shot', description: 'A shot', parameters: { type: 'object' } };
    registerTools(registry, { clientId, instanceId }, [tool]);
  }
  let looked = 0;
  const router = new Router({
    registry,
    breaker: { admits: () => true },
    facts(instanceId) {
      looked += 1;
      return table.facts(instanceId);
    },
    askedAgain: () => ({ type: 'asked_again' }),
  });
  const target = registry.find('shot');
  if (!target) throw new Error('Cannot be');
  const { schemaHash, toolHash } = target.best;
  const choose = (more: Partial<Call>, routing: Partial<Routing>) => {
    looked = 0;
    const call = sampleCall({
      ...{ toolName: 'shot', args: {}, annotations: {} },
      ...{ routing: { ...NO_ROUTING, schemaHash, checkedForClientId: 'c0', ...routing } },
      ...more,
    });
    const event = router.next(call);
    return [event?.type === 'offered' ? event.provider.clientId : event?.type, looked] as const;
  };
  return { table, choose, toolHash };
}

test('[CR9] a choice looks at a few clients, however many offer the tool', () => {
  const { table, choose, toolHash } = setup();
  const disconnected = { schemaHash: 'gone' };
  const approval = (clientId: string) => ({ approval: { clientId, toolHash } });
  const mayHaveStarted = { phase: 'granted', granted: true, provider: sampleProvider } as const;
  const cases: readonly [string, Partial<Call>, Partial<Routing>, string | undefined][] = [
    ['any', {}, {}, 'c0'],
    ['the one that is named', { wantedClientId: 'c500' }, {}, 'c500'],
    ['the one whose person asks', {}, { fromClientId: 'c600' }, 'c600'],
    ['the one that was approved', {}, approval('c999'), 'c999'],
    [
      'the one that has another schema now',
      {},
      { ...disconnected, checkedForClientId: 'c998' },
      'c998',
    ],
    ['none: that one has left', {}, { ...disconnected, checkedForClientId: 'left' }, undefined],
    ['none: it may have started', mayHaveStarted, {}, undefined],
  ];
  for (const [name, more, routing, chosen] of cases) {
    const [client, looked] = choose(more, routing);
    expect([name, client]).toEqual([name, chosen]);
    expect([name, looked]).toEqual([name, Math.min(looked, 4)]);
  }
  // Mostly it is the first: whether that answers, and what it is offered on.
  expect(choose({}, {})).toEqual(['c0', 2]);
  expect(choose({}, approval('c0'))).toEqual(['c0', 2]);
  for (let n = 0; n < CLIENTS; n += 1) table.update(`i${n}`, { responsive: false });
  expect(choose({}, {})).toEqual([undefined, 3]);
  table.update('i700', { responsive: true });
  expect(choose({}, { fromClientId: 'c5' })[0]).toBe('c700');
});
