import { expect, test } from 'vitest';
import type { ClientListing, WatchEvent } from '../protocol/watch-messages.ts';
import { foldListings, listingsOfSnapshot } from './listings-store.ts';
import { client, snapshot, tool } from './testing/fixtures.ts';

const row = (id: string, tools: string[], more: Partial<ClientListing> = {}) =>
  client(id, { tools, ...more });

const entry = (client_id: string, more: object = {}) => ({
  ...{ client_id, name: client_id, visible: true, responsive: true },
  ...more,
});

const offered = (name: string, ids: string[], more: object = {}) => ({
  ...tool(name),
  ...{ source: 'client', clients: ids.map((id) => entry(id)), ...more },
});

const clientsChanged = (clients: ClientListing[], removed: string[] = []): WatchEvent => ({
  ...{ type: 'clients_changed', seq: 2, clients, removed },
});

const toolsChanged = (
  change: Partial<Extract<WatchEvent, { type: 'tools_changed' }>>,
): WatchEvent => ({
  ...{ type: 'tools_changed', seq: 3, tools: [], removed: [], joined: {}, first: {} },
  ...change,
});

const start = () =>
  listingsOfSnapshot(
    snapshot(1, {
      tools: [tool('server.tool'), offered('b', ['x', 'y']), offered('d', ['y'])],
      clients: [row('x', ['b']), row('y', ['b', 'd'])],
    }),
  );

test('[SF18] a row takes the place of the one before, also in the tools of its client', () => {
  const before = start();
  const tripped = [{ tool: 'b', until: 9, failures: 3 }];
  const after = foldListings(before, [
    clientsChanged([row('x', ['b'], { visible: false, tripped })]),
  ]);
  expect(after.clients.map(({ visible }) => visible)).toEqual([false, true]);
  const pause = { tripped: { until: 9, failures: 3 } };
  expect(after.tools[1]?.clients).toEqual([entry('x', { visible: false, ...pause }), entry('y')]);
  // What the change says nothing of stays the very same.
  expect([after.tools[0], after.tools[2]]).toEqual([before.tools[0], before.tools[2]]);
  expect(after.tools[2]).toBe(before.tools[2]);
});

test('[SF18] a client that left, or offers a tool no longer, leaves its tools', () => {
  const left = foldListings(start(), [clientsChanged([], ['y']), toolsChanged({ removed: ['d'] })]);
  expect(left.clients.map(({ client_id }) => client_id)).toEqual(['x']);
  expect(left.tools.map(({ name }) => name)).toEqual(['server.tool', 'b']);
  expect(left.tools[1]?.clients).toEqual([entry('x')]);
  const stopped = foldListings(start(), [clientsChanged([row('x', [])])]);
  expect(stopped.tools[1]?.clients).toEqual([entry('y')]);
});

test('[SF18] new tools stand in the order of the list, replaced ones in their place', () => {
  const changed = { ...offered('b', ['x', 'y']), description: 'Another' };
  const { tools } = foldListings(start(), [
    toolsChanged({ tools: [offered('c', ['x']), offered('a', ['x']), changed] }),
  ]);
  expect(tools.map(({ name }) => name)).toEqual(['server.tool', 'a', 'b', 'c', 'd']);
  expect(tools[2]?.description).toBe('Another');
});

test('[SF18] tools of other providers stand among those of clients, by name', () => {
  const mcp = { ...tool('c.read'), source: 'mcp' };
  const { tools } = foldListings(start(), [toolsChanged({ tools: [mcp] })]);
  expect(tools.map(({ name }) => name)).toEqual(['server.tool', 'b', 'c.read', 'd']);
});

test('[SF18] one that joined comes last, and one that is asked first comes first', () => {
  const z = clientsChanged([row('z', ['b'], { name: 'Zoe' })]);
  const joined = foldListings(start(), [z, toolsChanged({ joined: { b: ['z'] } })]);
  expect(joined.tools[1]?.clients.map(({ name }) => name)).toEqual(['x', 'y', 'Zoe']);
  const first = foldListings(joined, [toolsChanged({ first: { b: 'y', none: 'y' } })]);
  expect(first.tools[1]?.clients.map(({ name }) => name)).toEqual(['y', 'x', 'Zoe']);
});

test('[SF18] where clients are left out, the one that is asked first takes the place of another', () => {
  const before = listingsOfSnapshot(
    snapshot(1, {
      tools: [offered('b', ['x', 'y'], { clients_left_out: 1 })],
      clients: [row('x', ['b']), row('y', ['b']), row('z', ['b'])],
    }),
  );
  const { tools } = foldListings(before, [toolsChanged({ first: { b: 'z' } })]);
  expect(tools[0]?.clients.map(({ client_id }) => client_id)).toEqual(['z', 'x']);
});

test('[SF18] one that had another schema and has none now is no longer beside the others', () => {
  const others = [{ client_id: 'z', name: 'z' }];
  const before = listingsOfSnapshot(
    snapshot(1, {
      tools: [offered('b', ['x'], { others })],
      clients: [row('x', ['b']), row('z', ['b'])],
    }),
  );
  const named = foldListings(before, [clientsChanged([row('z', ['b'], { name: 'Zoe' })])]);
  expect(named.tools[0]?.others).toEqual([{ client_id: 'z', name: 'Zoe' }]);
  const same = foldListings(before, [toolsChanged({ joined: { b: ['z'] } })]);
  expect(same.tools[0]?.clients.map(({ client_id }) => client_id)).toEqual(['x', 'z']);
  expect(same.tools[0]).not.toHaveProperty('others');
  const removed = foldListings(before, [clientsChanged([], ['z'])]);
  expect(removed.tools[0]).not.toHaveProperty('others');
});
