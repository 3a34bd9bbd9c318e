import { LIMITS } from '../../lib/protocol/limits.ts';
import { get } from './kit/ask.ts';
import { invoke, readCall } from './kit/calls.ts';
import { expect, overEachTransport, sharedCallboard, test } from './kit/contract-test.ts';

overEachTransport(() => {
  const board = sharedCallboard();
  test('§5 a message of an unknown type is answered with an error that echoes its id', async ({
    connect,
  }) => {
    const client = await connect.client(board());
    client.send({ type: 'tool_results', id: 'tc_echo', output: 1 });
    const error = await client.next('error');
    expect(error).toMatchObject({ code: 'bad_message', id: 'tc_echo' });
    expect(error.message.length).toBeGreaterThan(10);
    client.send({ type: 'tool_result', id: 'tc_echo' });
    expect(await client.next('error')).toMatchObject({ code: 'bad_message', id: 'tc_echo' });
    await client.settled();
  });

  test('§5 an answer that cannot be read ends no call of another client', async ({ connect }) => {
    const asked = await connect.client(board(), { tools: ['private'] });
    const other = await connect.client(board());
    const id = await invoke(board(), 'private');
    await asked.request();
    other.send({ type: 'tool_result', id });
    expect(await other.next('result_rejected')).toMatchObject({ id, code: 'not_your_call' });
    expect((await readCall(board(), id)).status).toBe('RUNNING');
    asked.succeed(id, 'own');
    expect(await asked.next('result_acknowledged')).toMatchObject({ disposition: 'accepted' });
  });

  test('§5 whichever side probes, the other answers with the same nonce', async ({ connect }) => {
    const client = await connect.client(board(), { hello: { caps: ['probe'] } });
    client.send({ type: 'probe', nonce: 'from the client' });
    expect(await client.next('probe_ack')).toMatchObject({ nonce: 'from the client' });
    client.send({ type: 'probe_ack', nonce: 'of no probe' });
    await client.settled();
    expect(client.all('error')).toEqual([]);
  });

  test('§1 unknown fields are ignored, never an error', async ({ connect }) => {
    const client = await connect.client(board(), {
      hello: { client_id: 'newer', later: { deep: [1] }, caps: ['claim', 'teleport'] },
    });
    const tool = {
      name: 'newer_tool',
      description: 'x',
      parameters: { type: 'object' },
      icon: '🦞',
    };
    client.send({ type: 'register_tools', tools: [tool], later: true });
    expect(await client.next('tools_registered')).toMatchObject({ count: 1, registered: 1 });
    const id = await invoke(board(), 'newer_tool');
    await client.claim(await client.request());
    client.send({ type: 'tool_status', id, tip: 'x', later: 1 });
    client.succeed(id, 'ok', { later: null });
    expect(await client.next('result_acknowledged')).toMatchObject({ id });
    expect(client.all('error')).toEqual([]);
  });

  test('T47: §5 a flood is closed with 1008, unfelt by its neighbour', async ({ connect }) => {
    const [flooder, neighbour] = await Promise.all([
      connect.client(board()),
      connect.client(board(), { tools: ['calm'] }),
    ]);
    for (let n = 0; n < 20_000; n += 1) flooder.send('{"type":"probe","nonce":"x"}');
    const id = await invoke(board(), 'calm');
    await neighbour.request();
    neighbour.succeed(id, 'calm');
    await neighbour.next('result_acknowledged');
    expect((await flooder.closed).code).toBe(1008);
  });

  test('§5 many answers to what was asked are no flood', async ({ connect }) => {
    const client = await connect.client(board(), { tools: ['busy'] });
    const answerAll = async () => {
      for (let answered = 0; answered < 300; answered += 1) {
        client.succeed((await client.request()).id, 1);
      }
    };
    const answering = answerAll();
    const ids = await Promise.all(Array.from({ length: 300 }, () => invoke(board(), 'busy')));
    await answering;
    await expect.poll(() => client.all('result_acknowledged').length).toBe(ids.length);
    await client.settled();
  });

  test('§5 a key like __proto__ in what a client says is refused', async ({ connect }) => {
    const client = await connect.client(board(), { tools: ['proto'] });
    const id = await invoke(board(), 'proto');
    await client.request();
    for (const params of ['{"__proto__":{"admin":true}}', '{"\\u005f_proto__":1}']) {
      client.send(`{"type":"tool_status","id":"${id}","params":${params}}`);
      expect(await client.next('error')).toMatchObject({ code: 'bad_message' });
    }
    client.succeed(id, { constructor: { prototype: 1 }, toString: 'text' });
    await client.next('result_acknowledged');
    const call = await readCall(board(), id);
    expect(call.result).toEqual({ constructor: { prototype: 1 }, toString: 'text' });
  });

  test('§5 a status that is larger than its limit is refused: it would weigh on every watcher', async ({
    connect,
  }) => {
    const client = await connect.client(board(), { tools: ['loud'] });
    const id = await invoke(board(), 'loud');
    await client.request();
    client.send({ type: 'tool_status', id, preview: 'x'.repeat(LIMITS.statusBytes + 2_000) });
    expect(await client.next('error')).toMatchObject({ code: 'bad_message', id });
    client.send({ type: 'tool_status', id, preview: 'x'.repeat(LIMITS.statusBytes - 100) });
    // It is shown once it is on disk, and no message says when that is.
    const shown = async () => String((await readCall(board(), id)).preview).length;
    await expect.poll(shown).toBe(LIMITS.statusBytes - 100);
  });

  test('§5 a client may register no more than its limit of tools; the answer names those that were left out', async ({
    connect,
  }) => {
    const client = await connect.client(board());
    const names = Array.from({ length: LIMITS.toolsPerClient + 2 }, (_, n) => `many_${n}`);
    const answer = await client.register(...names);
    expect([answer.count, answer.registered]).toEqual([names.length, LIMITS.toolsPerClient]);
    expect(answer.rejected.map(({ name }) => name)).toEqual(names.slice(-2));
    expect(answer.rejected[0]?.code).toBe('too_many_tools');
  });

  test('§5 permissions are those of tools: others would go to every watcher, without a bound', async ({
    connect,
  }) => {
    const client = await connect.client(board(), { hello: { client_id: 'permitted' } });
    const many = Array.from({ length: LIMITS.toolsPerClient + 1 }, (_, at) => [
      `t${at}`,
      'granted',
    ]);
    for (const permissions of [Object.fromEntries(many), { ['x'.repeat(65)]: 'granted' }]) {
      client.send({ type: 'client_state', permissions });
      expect(await client.next('error')).toMatchObject({ code: 'bad_message' });
    }
    const most = Object.fromEntries(many.slice(1));
    client.send({ type: 'client_state', permissions: most });
    await client.settled();
    expect(client.all('error')).toHaveLength(2);
    const watcher = await connect.watcher(board());
    const snapshot = await watcher.next('snapshot');
    const listed = snapshot.clients.find(({ client_id }) => client_id === 'permitted');
    expect(listed?.permissions).toEqual(most);
  });

  test('§5 more tools in one message than a registration takes are refused with one line', async ({
    connect,
  }) => {
    const client = await connect.client(board());
    const tools = Array.from({ length: LIMITS.toolsPerMessage + 1 }, () => 1);
    client.send({ type: 'register_tools', tools });
    expect(await client.next('error')).toMatchObject({ code: 'bad_message' });
    const body = { client_id: 'many-at-once', tools };
    expect((await board().http('POST', '/internal/tools/register', body)).status).toBe(400);
    client.send({ type: 'register_tools', tools: tools.slice(1) });
    const refused = await client.next('tools_registered');
    expect(refused.rejected).toHaveLength(LIMITS.rejectedPerMessage);
    expect(refused.rejected_count).toBe(LIMITS.toolsPerMessage);
  });
});

/** Only frames can be these: bytes, and texts that are no JSON. */
test.describe('frames of a socket', () => {
  const board = sharedCallboard();
  test('§5 a binary frame is refused in words, the connection lives on', async ({ connect }) => {
    const client = await connect.client(board());
    client.send(Buffer.from('{"type":"probe","nonce":"x"}'));
    expect(await client.next('error')).toMatchObject({ code: 'bad_message' });
    await client.settled();
    expect(client.all('probe_ack')).toHaveLength(1);
  });

  test('§5 a frame over 16 MiB closes the connection with 1009, one of 15 MiB is read', async ({
    connect,
  }) => {
    const client = await connect.client(board());
    client.send(`{"type":"probe","nonce":"a"${' '.repeat(15 * 1024 * 1024)}}`);
    expect(await client.next('probe_ack')).toMatchObject({ nonce: 'a' });
    client.send(' '.repeat(LIMITS.frameBytes + 1));
    expect((await client.closed).code).toBe(1009);
    expect((await get(board(), '/healthz')).status).toBe(200);
  });

  test('§5 whatever is deep, odd or poisoned is answered one by one and changes nothing', async ({
    connect,
  }) => {
    const client = await connect.client(board(), { tools: ['sound'] });
    const frames = [
      '['.repeat(5_000),
      '{"a":'.repeat(100_000),
      `{"type":"tool_result","id":"x","output":${'['.repeat(65)}${']'.repeat(65)}}`,
      `{"type":"tool_result","id":"x","output":[${'0,'.repeat(250_000)}0]}`,
      '{"type":{"toString":1}}',
      '{"type":"__proto__"}',
      '{"type":"hello"',
      '\u0000',
      '"tool_result"',
      '{"type":"tool_call_claim","id":"x","attempt":0}',
      '{"type":"tool_call_claim","id":"x","attempt":1.5}',
      '{"type":"tool_status","id":"x","progress":{"done":-1}}',
      '{"type":"tool_status","id":"x","progress":{"done":1e999}}',
      '{"type":"client_state","visibility":"maybe"}',
      `{"type":"tool_error","id":"${'x'.repeat(200)}","error":"e"}`,
    ];
    for (const frame of frames) client.send(frame);
    for (const _ of frames)
      expect(await client.next('error')).toMatchObject({ code: 'bad_message' });
    await client.settled();
    expect((await get(board(), '/v1/tools')).text).toContain('"sound"');
  });
});
