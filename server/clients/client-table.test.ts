import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ConnectedInstance, createClientTable } from './client-table.ts';
import { listClients } from './open-clients.ts';

function setup() {
  const offering = new Set<string>();
  const namesOf = (instanceId: string) => (offering.has(instanceId) ? ['print'] : []);
  const table = listClients({
    table: createClientTable(() => 0),
    registry: { namesOf, availabilityChanged: () => {} },
    breaker: { openCircuitsOf: () => [] },
    devices: { ofClient: () => undefined, seen() {}, onChange: () => () => {} },
  });
  return { table, offering };
}

const instance = (clientId: string, instanceId: string): ConnectedInstance => ({
  clientId,
  instanceId,
  name: clientId,
  kind: 'program',
  caps: [],
  journalEpoch: null,
  visible: true,
  responsive: true,
  connectedAt: 0,
});

test('a question about one client reads no instance of another', () => {
  const { table, offering } = setup();
  let reads = 0;
  for (let at = 0; at < 100; at += 1) {
    const one = instance('', `i${at}`);
    const clientId = {
      enumerable: true,
      get() {
        reads += 1;
        return `c${at}`;
      },
    };
    table.add(Object.defineProperty(one, 'clientId', clientId));
  }
  offering.add('i99');
  reads = 0;
  expect([table.hasClient('c99'), table.hasClient('none')]).toEqual([true, false]);
  expect([table.offersTools('c99'), table.offersTools('c0')]).toEqual([true, false]);
  expect(reads).toBe(0);
});

test('whatever comes and goes, a client is there as long as one of its instances is', () => {
  const ids = fc.constantFrom('a', 'b', 'c');
  const steps = fc.array(fc.record({ clientId: ids, instanceId: ids, comes: fc.boolean() }));
  fc.assert(
    fc.property(steps, (all) => {
      const { table, offering } = setup();
      offering.add('a');
      const expected = new Map<string, string>();
      for (const { clientId, instanceId, comes } of all) {
        if (comes) table.add(instance(clientId, instanceId));
        else table.remove(instanceId);
        if (comes) expected.set(instanceId, clientId);
        else expected.delete(instanceId);
        for (const one of ['a', 'b', 'c']) {
          expect(table.hasClient(one)).toBe([...expected.values()].includes(one));
          expect(table.offersTools(one)).toBe(expected.get('a') === one);
        }
      }
    }),
  );
});

test('[LV23] a client is listed by the name that a person gave it, from the moment on in which it is given', () => {
  const { table } = setup();
  const changed: string[] = [];
  table.onChange(({ clientId }) => changed.push(clientId));
  table.add(instance('phone', 'i1'));
  table.add(instance('tab', 'i2'));
  changed.length = 0;
  table.rename('phone', 'Kitchen');
  table.rename('phone', 'Kitchen');
  expect(table.listings().map(({ name }) => name)).toEqual(['Kitchen', 'tab']);
  expect([table.facts('i1')?.name, changed]).toEqual(['Kitchen', ['phone']]);
});
