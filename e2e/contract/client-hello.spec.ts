import { LIMITS } from '../../lib/protocol/limits.ts';
import { get } from './kit/ask.ts';
import { invoke, readCall } from './kit/calls.ts';
import { expect, overEachTransport, sharedCallboard, test } from './kit/contract-test.ts';
import { spec } from './kit/tool-client.ts';

overEachTransport(() => {
  const board = sharedCallboard();
  const READS = { annotations: { readOnlyHint: true } };

  test('§5 welcome has the client id, the resume token and the limits', async ({ connect }) => {
    const client = await connect.client(board(), {
      hello: { client_id: 'till-1', name: 'Till', kind: 'program', caps: ['claim', 'time-travel'] },
    });
    expect(client.welcome).toMatchObject({
      client_id: 'till-1',
      resumed: false,
      forget: [],
      cancel: [],
      protocol: 'callboard.v1',
    });
    expect(client.welcome.resume_token.length).toBeGreaterThanOrEqual(32);
    expect(client.welcome.heartbeat_ms).toBeGreaterThan(0);
    expect(client.welcome.limits).toMatchObject({ frameBytes: 16 * 1024 * 1024 });
    expect(client.welcome.limits).toEqual({ ...LIMITS });
  });

  test('§5 a client that says no hello works as well, by an id of its own', async ({ connect }) => {
    const client = await connect.client(board(), { tools: ['mute'] });
    const id = await invoke(board(), 'mute');
    client.succeed((await client.request()).id, 'heard');
    await client.next('result_acknowledged');
    const call = await readCall(board(), id);
    expect(call.result).toBe('heard');
    expect(call.client_id).toMatch(/^client_/);
    expect(client.all('welcome')).toEqual([]);
  });

  test('§5 hello comes once: a second one is an error and changes nothing', async ({ connect }) => {
    const client = await connect.client(board(), {
      hello: { client_id: 'twice' },
      tools: ['once'],
    });
    client.send({ type: 'hello', client_id: 'other-client' });
    expect(await client.next('error')).toMatchObject({ code: 'bad_message' });
    const id = await invoke(board(), 'once');
    client.succeed((await client.request()).id, 1);
    await client.next('result_acknowledged');
    expect((await readCall(board(), id)).client_id).toBe('twice');
  });

  test('§5 the same instance connected again closes its older socket, whose late words count for nothing', async ({
    connect,
  }) => {
    const old = await connect.client(board(), {
      hello: { client_id: 'tab', instance_id: 'one' },
      tools: [spec('superseded', READS)],
    });
    const id = await invoke(board(), 'superseded');
    const asked = await old.request();
    // The older socket hears nothing of its end, and goes on talking.
    old.pause();
    const fresh = await connect.client(board(), {
      hello: { client_id: 'tab', instance_id: 'one', resume_token: old.welcome.resume_token },
      tools: [spec('superseded', READS)],
    });
    const again = await fresh.request();
    expect([again.id, again.attempt]).toEqual([id, asked.attempt + 1]);
    old.succeed(id, 'from the grave', { attempt: asked.attempt });
    old.send({ type: 'register_tools', tools: [spec('ghost')] });
    old.resume();
    expect((await old.closed).code).toBe(4010);
    expect((await readCall(board(), id)).status).toBe('RUNNING');
    expect((await get(board(), '/api/tools')).text).not.toContain('ghost');
    fresh.succeed(id, 'alive', { attempt: again.attempt });
    await fresh.next('result_acknowledged');
    expect((await readCall(board(), id)).result).toBe('alive');
  });

  test('§5 two tabs of one client are two instances: one cannot answer for the other', async ({
    connect,
  }) => {
    const a = await connect.client(board(), {
      hello: { client_id: 'browser', instance_id: 'a' },
      tools: ['shared'],
    });
    const b = await connect.client(board(), { hello: { client_id: 'browser', instance_id: 'b' } });
    const id = await invoke(board(), 'shared');
    const { attempt } = await a.request();
    b.succeed(id, 'hijacked', { attempt });
    expect(await b.next('result_rejected')).toMatchObject({
      id,
      code: 'not_your_call',
      final: true,
    });
    b.send({ type: 'tool_status', id, tip: 'forged' });
    b.send({ type: 'tool_call_claim', id, attempt });
    expect(await b.next('tool_call_refused')).toMatchObject({ id, attempt });
    const call = await readCall(board(), id);
    expect([call.status, call.card.tip]).toEqual(['RUNNING', undefined]);
    a.succeed(id, 'honest', { attempt });
    expect(await a.next('result_acknowledged')).toMatchObject({ id, disposition: 'accepted' });
  });

  test('§5 unregistered names leave the lists, and only those', async ({ connect }) => {
    const client = await connect.client(board(), { tools: ['kept', 'dropped'] });
    client.send({
      type: 'unregister_tools',
      names: ['dropped', 'never_there', 'calculation.eval'],
    });
    await client.settled();
    const { text } = await get(board(), '/v1/tools');
    expect(text).toContain('"kept"');
    expect(text).not.toContain('"dropped"');
    expect(text).toContain('"calculation.eval"');
  });

  test('§5 a client may not unregister what another one offers', async ({ connect }) => {
    await connect.client(board(), { tools: ['not_yours'] });
    const other = await connect.client(board());
    other.send({ type: 'unregister_tools', names: ['not_yours'] });
    await other.settled();
    expect((await get(board(), '/v1/tools')).text).toContain('"not_yours"');
  });
});
