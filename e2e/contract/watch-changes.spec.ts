import { foldListings, listingsOfSnapshot } from '../../lib/stores/listings-store.ts';
import { get } from './kit/ask.ts';
import { expect, sharedCallboard, test } from './kit/contract-test.ts';

const board = sharedCallboard();

const spec = (name: string) => ({
  name,
  description: `What ${name} does, in a sentence of usual length`,
  parameters: { type: 'object', properties: { text: { type: 'string', description: 'A text' } } },
});

test('§8 with 2,000 tools of 40 clients a change of one client sends less than 4 KiB to who asks for changes', async ({
  connect,
}) => {
  const clients = [];
  for (let n = 0; n < 40; n += 1) {
    const tools = Array.from({ length: 50 }, (_, at) => spec(`tool_${n}_${at}`));
    clients.push(
      await connect.client(board(), { hello: { client_id: `client_${n}`, name: `C ${n}` }, tools }),
    );
  }
  const [old, watcher] = await Promise.all([
    connect.watcher(board()),
    connect.watcher(board(), { changes: true }),
  ]);
  await old.next('snapshot');
  const snapshot = await watcher.next('snapshot');
  expect((await get(board(), '/api/tools')).body).toMatchObject({ tools: { length: 2_005 } });
  let bytes = 0;
  watcher.ws.on('message', (data) => {
    bytes += String(data).length;
  });
  clients[7]?.send({ type: 'client_state', visibility: 'hidden' });
  const change = await watcher.next('clients_changed', ({ clients: [row] }) => !row?.visible);
  expect(change.clients.map(({ client_id }) => client_id)).toEqual(['client_7']);
  expect(bytes).toBeLessThan(4096);
  const whole = await old.next('clients', (event) =>
    event.clients.some(({ client_id, visible }) => client_id === 'client_7' && !visible),
  );
  const state = foldListings(listingsOfSnapshot(snapshot), [change]);
  expect(state.clients).toEqual(whole.clients);
  // A watcher that did not ask for changes of tools is sent the list.
  clients[7]?.send({ type: 'unregister_tools', names: ['tool_7_3'] });
  await watcher.next('tools_changed', ({ removed }) => removed.includes('tool_7_3'));
  expect(bytes).toBeLessThan(8192);
  await old.next('tools', (event) => event.tools.every(({ name }) => name !== 'tool_7_3'));
});

test('§8 who comes back with since gets the changes asked for, or the list', async ({
  connect,
}) => {
  const first = await connect.watcher(board(), { changes: true });
  const { seq } = await first.next('snapshot');
  await connect.client(board(), { hello: { client_id: 'newcomer' }, tools: [spec('new_tool')] });
  const isNew = ({ tools }: { tools: { name: string }[] }) =>
    tools.some(({ name }) => name === 'new_tool');
  await first.next('tools_changed', isNew);
  const again = await connect.watcher(board(), { since: seq, changes: true });
  expect((await again.next('tools_changed', isNew)).tools[0]?.clients).toMatchObject([
    { client_id: 'newcomer', visible: true },
  ]);
  const old = await connect.watcher(board(), { since: seq });
  await old.next('tools', isNew);
  expect(old.inbox.some(({ type }) => type === 'tools_changed')).toBe(false);
});
