import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ToolPool } from './tool-pool.ts';
import { type AvailabilityOf, type ClientTool, OF_CLIENTS } from './tool-provider.ts';

interface Offering {
  readonly clientId: string;
  readonly availability: ReturnType<AvailabilityOf>;
}

const toolOf = (instanceId: string, clientId: string): ClientTool => ({
  name: 't',
  origin: OF_CLIENTS,
  instanceId,
  clientId,
  description: 'A tool',
  schema: {},
  schemaHash: 's',
  unchecked: undefined,
  toolHash: 't',
  annotations: {},
  timeoutMs: 1_000,
  displayName: undefined,
  key: instanceId,
  bytes: 0,
  check: () => ({ ok: true, args: {}, repairs: [] }),
});

test('[TR17] a choice among 5,000 compares none, and a change compares a few', () => {
  let compared = 0;
  const touched = new Map<string, number>();
  const pool = new ToolPool('t', (instanceId) => ({
    name: instanceId,
    visible: true,
    openCircuit: undefined,
    lastTouchedAt: touched.get(instanceId) ?? 0,
    get responsive() {
      compared += 1;
      return true;
    },
  }));
  for (let n = 0; n < 5_000; n += 1) pool.put(toolOf(`i${n}`, `c${n}`));
  const first = (from: string | null = null) => {
    const [best] = pool.inOrder(undefined, from);
    return best?.instanceId;
  };
  first();
  compared = 0;
  expect([first(), compared]).toEqual(['i0', 0]);
  touched.set('i4000', 1);
  pool.refresh('i4000');
  expect(first()).toBe('i4000');
  // A comparison reads each side twice. At most 15 find a place among 5,000: the old one and the new.
  expect(compared).toBeLessThanOrEqual(4 * 2 * 15);
  compared = 0;
  expect([first('c7'), compared]).toEqual(['i7', 1]);
});

test('[TR7] [TR17] whatever comes, changes and goes, the order is that of all sorted anew', () => {
  const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
  const step = fc.record({
    id,
    kind: fc.constantFrom('put', 'put', 'put', 'remove', 'stand', 'stand', 'look'),
    responsive: fc.boolean(),
    visible: fc.boolean(),
    lastTouchedAt: fc.nat(3),
    openCircuit: fc.constantFrom(undefined, undefined, { tool: 't', until: 1, failures: 3 }),
  });
  const clientOf = (instanceId: string) => `client-${'abc'.includes(instanceId) ? 1 : instanceId}`;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.option(id), (steps, from) => {
      const availabilities = new Map<string, Offering['availability']>();
      const availability = (instanceId: string) =>
        availabilities.get(instanceId) ?? {
          name: instanceId,
          visible: true,
          responsive: true,
          lastTouchedAt: 0,
          openCircuit: undefined,
        };
      const pool = new ToolPool('t', availability);
      const there = new Set<string>();
      const caller = from === null ? null : clientOf(from);
      const order = () => [...pool.inOrder(undefined, caller)].map(({ instanceId }) => instanceId);
      for (const { kind, id: instanceId, ...changes } of steps) {
        if (kind === 'put') {
          pool.put(toolOf(instanceId, clientOf(instanceId)));
          there.add(instanceId);
        } else if (kind === 'remove') {
          expect(pool.remove(instanceId)).toBe(there.delete(instanceId));
        } else if (kind === 'stand') {
          availabilities.set(instanceId, { name: instanceId, ...changes });
          pool.refresh(instanceId);
        } else order();
      }
      const offerings = [...there].map((instanceId) => ({
        instanceId,
        clientId: clientOf(instanceId),
        availability: availability(instanceId),
      }));
      const all = offerings.toSorted((a, b) => rankOf(b, caller) - rankOf(a, caller));
      expect(order()).toEqual(all.map(({ instanceId }) => instanceId));
      expect(pool.size).toBe(there.size);
      for (const named of [undefined, clientOf('a'), clientOf('d')]) {
        const [best] = pool.inOrder(named, caller);
        expect(pool.best(named, caller)).toBe(best);
        expect(best?.clientId ?? named).toBe(named ?? best?.clientId);
      }
    }),
  );
});

/** With fewer than ten moments at which one was touched. */
const rankOf = ({ clientId, availability }: Offering, caller: string | null): number =>
  10_000 * Number(availability.responsive && !availability.openCircuit) +
  1_000 * Number(clientId === caller) +
  100 * Number(availability.responsive) +
  10 * Number(availability.visible) +
  availability.lastTouchedAt;

test('[TR7] two tabs of the client whose person asks: the one that was touched last comes first', () => {
  const touched = new Map([
    ['i0', 1],
    ['i1', 2],
    ['other', 9],
  ]);
  const pool = new ToolPool('t', (instanceId) => ({
    name: instanceId,
    visible: true,
    responsive: true,
    openCircuit: undefined,
    lastTouchedAt: touched.get(instanceId) ?? 0,
  }));
  for (const id of touched.keys()) pool.put(toolOf(id, id === 'other' ? 'theirs' : 'mine'));
  expect(pool.best(undefined, 'mine')?.instanceId).toBe('i1');
});
