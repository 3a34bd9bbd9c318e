import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import type { WatchEvent, WatchEventBody } from '#lib/protocol/watch-messages';
import { foldListings, type ListingsState, NO_LISTINGS } from '#lib/stores/listings-store';
import type { ConnectedInstance } from '../clients/client-table.ts';
import { createPool } from '../clients/testing/create-pool.ts';
import { numbered } from '../events/memory-bus.ts';
import { registerTools } from '../tools/testing/register-tools.ts';
import type { OpenCircuit } from '../tools/tool-provider.ts';
import { publishListings } from './publish-listings.ts';
import { clientsEvent, toolsEvent } from './whole-lists.ts';

/** Real registry and table; what is published, as bytes and as events. */
function setup() {
  const clock = createManualClock();
  const published: WatchEvent[] = [];
  let circuits: Record<string, OpenCircuit[]> = {};
  let breakerChanged = (_instanceId: string) => {};
  let touched = 0;
  const { registry, table } = createPool({
    now: () => ++touched,
    breaker: {
      openCircuitOf: (id, name) => circuits[id]?.find(({ tool }) => tool === name),
      openCircuitsOf: (id) => circuits[id] ?? [],
    },
  });
  const { stop, publishNow } = publishListings({
    clock,
    bus: {
      publish: (body: WatchEventBody) =>
        published.push(numbered(structuredClone(body), published.length + 1)),
    },
    registry,
    clients: table,
    breaker: {
      onChange: (listener) => {
        breakerChanged = listener;
      },
    },
  });
  const whole = (): ListingsState => {
    const lists = [toolsEvent(registry), clientsEvent(table.listings())];
    const none = { ...NO_LISTINGS, known: true };
    return foldListings(
      none,
      lists.map((body) => numbered(structuredClone(body), 1)),
    );
  };
  return {
    registry,
    table,
    published,
    stop,
    publishNow,
    whole,
    openCircuit(instanceId: string, tool: string, until: number) {
      circuits = { ...circuits, [instanceId]: until > 0 ? [{ tool, until, failures: 3 }] : [] };
      registry.availabilityChanged(instanceId);
      breakerChanged(instanceId);
    },
    /** What the changes since the last time are published as. */
    next(): WatchEvent[] {
      clock.advance(50);
      return published.splice(0);
    },
  };
}

const instance = (clientId: string, instanceId = clientId, name = clientId): ConnectedInstance => ({
  ...{ clientId, instanceId, name, kind: 'tab', caps: ['claim'], journalEpoch: null },
  ...{ visible: true, responsive: true, permissions: undefined, secureContext: undefined },
  connectedAt: 1_000,
});

const spec = (name: string, more: object = {}) => ({
  name,
  description: `What ${name} does, in a sentence or two of usual length`,
  parameters: { type: 'object', properties: { text: { type: 'string', description: 'A text' } } },
  ...more,
});

const bytesOf = (events: readonly WatchEvent[]) => JSON.stringify(events).length;

test('[WA13] a client that joins a pool of 40 with its 50 tools takes less than 8 KiB', () => {
  const { registry, table, next } = setup();
  const specs = Array.from({ length: 50 }, (_, at) => spec(`tool_${at}`));
  for (let n = 0; n < 41; n += 1) {
    const one = instance(`client_${n}`);
    table.add(one);
    registerTools(registry, one, specs);
    const bytes = bytesOf(next());
    if (n > 0) expect(bytes).toBeLessThan(8192);
  }
});

test('[WA13] what many clients change at once is published as whole lists, which are bounded', () => {
  const { registry, table, next } = setup();
  const connect = (n: number) => {
    const one = instance(`client_${n}`, `client_${n}`, 'x'.repeat(200));
    table.add(one);
    registerTools(registry, one, [spec(`tool_${n}`)]);
  };
  for (let n = 0; n < 1_000; n += 1) connect(n);
  const events = next();
  expect(events.map(({ type }) => type)).toEqual(['clients', 'tools']);
  expect(bytesOf(events)).toBeLessThan(512 * 1024);
});

test('[WA13] what one client changes in one moment is published once', () => {
  const { registry, table, next, stop, published } = setup();
  table.add(instance('a'));
  registerTools(registry, instance('a'), [spec('t')]);
  table.update('a', { visible: false });
  expect(published).toEqual([]);
  expect(next().map(({ type }) => type)).toEqual(['clients_changed', 'tools_changed']);
  table.update('a', { visible: true });
  expect(next()).toMatchObject([{ type: 'clients_changed', clients: [{ visible: true }] }]);
  table.update('a', { visible: false });
  stop();
  expect(next()).toEqual([]);
});

test('[BR6] that a client is tripped is published with its row', () => {
  const { registry, table, openCircuit, next } = setup();
  table.add(instance('a'));
  registerTools(registry, instance('a'), [spec('t')]);
  next();
  openCircuit('a', 't', 60_000);
  expect(next()).toMatchObject([
    { type: 'clients_changed', clients: [{ client_id: 'a', tripped: [{ tool: 't', until: 60 }] }] },
  ]);
});

const CLIENTS = ['a', 'b', 'c', 'd'] as const;
const TOOLS = ['t', 'u', 'v'] as const;
const client = fc.constantFrom(...CLIENTS);
const tool = fc.constantFrom(...TOOLS);
const step = fc.oneof(
  client.map((id) => ({ kind: 'join', id }) as const),
  client.map((id) => ({ kind: 'leave', id }) as const),
  fc.tuple(client, tool, fc.boolean()).map(([id, name, isOther]) => {
    const other = isOther ? { parameters: { type: 'object' } } : {};
    return { kind: 'register', id, spec: spec(name, other) } as const;
  }),
  fc.tuple(client, tool).map(([id, name]) => ({ kind: 'unregister', id, name }) as const),
  client.map((id) => ({ kind: 'touch', id }) as const),
  fc
    .tuple(client, fc.constantFrom('visible', 'responsive'), fc.boolean())
    .map(([id, what, is]) => ({ kind: 'update', id, change: { [what]: is } }) as const),
  fc
    .tuple(client, tool, fc.nat(9))
    .map(([id, name, until]) => ({ kind: 'trip', id, name, until }) as const),
  fc.constant({ kind: 'publish' } as const),
);

test('[WA13] a list and its changes give the same as the whole list, whatever happens', () => {
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 40, size: 'max' }),
      fc.nat(40),
      (steps, from) => {
        const world = setup();
        for (const id of CLIENTS) run(world, { kind: 'join', id });
        for (const id of ['a', 'b'] as const) run(world, { kind: 'register', id, spec: spec('t') });
        run(world, { kind: 'publish' });
        let state: ListingsState | undefined;
        for (const [at, one] of steps.entries()) {
          // A watcher comes at some place, where changes may be due that it has seen already.
          if (at === from % steps.length) {
            world.publishNow();
            world.published.splice(0);
            state = world.whole();
          }
          run(world, one);
          if (one.kind === 'publish' && state)
            state = foldListings(state, world.published.splice(0));
        }
        state = state && foldListings(state, world.next());
        if (state) expect(comparable(state)).toEqual(comparable(world.whole()));
      },
    ),
    { numRuns: 500 },
  );
});

function run(
  { registry, table, openCircuit, next, published }: ReturnType<typeof setup>,
  one: Step,
) {
  switch (one.kind) {
    case 'publish':
      published.push(...next());
      return;
    case 'join':
      if (!table.get(one.id)) table.add(instance(one.id));
      return;
    case 'leave':
      registry.drop(one.id);
      table.remove(one.id);
      return;
  }
  if (!table.get(one.id)) return;
  if (one.kind === 'register') registerTools(registry, instance(one.id), [one.spec]);
  else if (one.kind === 'unregister') registry.unregister(one.id, [one.name]);
  else if (one.kind === 'touch') table.touch(one.id);
  else if (one.kind === 'update') table.update(one.id, one.change);
  else openCircuit(one.id, one.name, one.until * 1_000);
}

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** Which client is asked first counts; the order of the others is not kept up. */
const comparable = ({ tools, clients }: ListingsState) => ({
  clients: [...clients].sort(byId),
  tools: tools.map((one) => ({
    ...one,
    first: one.clients[0]?.client_id,
    clients: [...one.clients].sort(byId),
    ...(one.others ? { others: [...one.others].sort(byId) } : {}),
  })),
});

const byId = (a: { client_id: string }, b: { client_id: string }) =>
  a.client_id < b.client_id ? -1 : 1;
