import { expect, test } from 'vitest';
import { AGENT, ECHO, OTHER, setupMcp, textOf } from './testing/setup-mcp.ts';

test('[MP21] an answer is held for 50 s; then it says that the call goes on, and the result is fetched', async () => {
  const { call, client, asked, clock } = await setupMcp();
  const first = call('echo');
  const request = await asked();
  clock.advance(50_000);
  const text = textOf(await first);
  expect(text).toContain(`The call ${request?.id} of echo goes on: Offered to phone.`);
  expect(text).toContain('callboard_result');
  const fetched = call('callboard_result', { args: { call: request?.id } });
  client.succeed(request?.id ?? '', 'at last');
  expect(textOf(await fetched)).toBe('at last');
  const again = await call('callboard_result', { args: { call: request?.id, wait_s: 0 } });
  expect(textOf(again)).toBe('at last');
});

test('[MP20] a client that asks for progress is sent each 10 s what its call waits for, for 280 s', async () => {
  const { call, asked, clock } = await setupMcp();
  const held = call('echo', { meta: { progressToken: 'p' } });
  await asked();
  for (let second = 0; second < 280; second += 1) {
    clock.advance(1_000);
    await new Promise(setImmediate);
  }
  const messages = await held;
  const progress = messages.flatMap(({ params }) => params ?? []);
  expect(progress.length).toBeGreaterThan(25);
  expect(progress.length).toBeLessThan(40);
  const numbers = progress.map((one) => Number(one.progress));
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  expect(new Set(progress.map(({ message }) => message))).toEqual(new Set(['Offered to phone.']));
  expect(textOf(messages)).toContain('goes on');
});

test('[MP22] in an older revision a cut connection ends no call, and a cancel of the same session does', async () => {
  const { call, send, asked, calls, mcp, settle } = await setupMcp();
  const left = new AbortController();
  const cut = call('echo', { id: 1, sessionId: 'a', signal: left.signal }).catch(() => undefined);
  const first = await asked(1);
  left.abort();
  const kept = call('echo', { id: 7, sessionId: 'a' });
  const second = await asked(2);
  const cancel = (requestId: number | string, sessionId: string) =>
    send({ method: 'notifications/cancelled', params: { requestId } }, { sessionId });
  // Another program of the same token, another request, and an id of another type.
  for (const [requestId, session] of [
    [7, 'b'],
    [8, 'a'],
    ['7', 'a'],
  ] as const) {
    await cancel(requestId, session);
    await settle();
    const phase = (await calls.get(second?.id ?? ''))?.phase;
    expect([requestId, session, phase]).toEqual([requestId, session, 'offered']);
  }
  await cancel(7, 'a');
  await kept;
  await expect.poll(async () => (await calls.get(second?.id ?? ''))?.phase).toBe('cancelling');
  expect((await calls.get(first?.id ?? ''))?.phase).toBe('offered');
  await mcp.close();
  await cut;
});

test('[MP12] of a long text the beginning is sent, with a link to the whole', async () => {
  const { call, client, asked } = await setupMcp();
  const answered = call('echo');
  const request = await asked();
  client.succeed(request?.id ?? '', 'é'.repeat(100_000));
  const content = (await answered).at(-1)?.result?.content ?? [];
  expect(Buffer.byteLength(content[0]?.text ?? '')).toBeLessThanOrEqual(80 * 1024);
  expect(content[1]).toMatchObject({
    ...{ type: 'resource_link', uri: `callboard://call/${request?.id}`, size: 200_000 },
  });
});

test('[MP30] a session is good after a restart, and no other id is', async () => {
  const { answer } = await setupMcp();
  const body = {
    ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
    params: {
      ...{ protocolVersion: '2025-06-18', capabilities: {} },
      clientInfo: { name: 't', version: '1' },
    },
  };
  const request = new Request('http://callboard/mcp', {
    method: 'POST',
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
  });
  const response = await answer(request, body);
  const id = response.headers.get('mcp-session-id') ?? '';
  const { mcp: restarted } = await setupMcp();
  expect(restarted.isSession(AGENT, id)).toBe(true);
  expect(restarted.isSession(OTHER, id)).toBe(false);
  expect((await setupMcp({ key: 'another key' })).mcp.isSession(AGENT, id)).toBe(false);
  for (const bad of ['', 'x', `${id}x`, id.slice(1), `${id}.`]) {
    expect(restarted.isSession(AGENT, bad), bad).toBe(false);
  }
  restarted.endSession(AGENT, id);
  expect(restarted.isSession(AGENT, id)).toBe(false);
});

test('[MP5] a change of tools is told at once, and those of the next two seconds together', async () => {
  const { mcp, clock, client } = await setupMcp();
  const sent: string[] = [];
  clock.advance(5_000);
  mcp.openStream(AGENT, { send: (text) => void sent.push(text), end: () => {} });
  const changes = () => sent.filter((text) => text.includes('list_changed')).length;
  client.offer({ ...ECHO, name: 'a' });
  expect(changes()).toBe(1);
  for (const name of ['b', 'c', 'd']) {
    client.offer({ ...ECHO, name });
    clock.advance(500);
  }
  expect(changes()).toBe(1);
  clock.advance(600);
  expect(changes()).toBe(2);
  clock.advance(60_000);
  expect(changes()).toBe(2);
});

test('[MP20] a burst of progress arrives whole, with its total and its text; more of it is paced', async () => {
  const { call, asked, clock, client, settle } = await setupMcp();
  const held = call('echo', { meta: { progressToken: 'p' } });
  const id = (await asked())?.id ?? '';
  clock.advance(1_000);
  for (const done of [0, 50, 100]) {
    client.status({ type: 'tool_status', id, progress: { done, total: 100 }, tip: `At ${done}` });
    await settle();
    clock.advance(40);
  }
  for (let done = 101; done <= 200; done += 1) {
    client.status({ type: 'tool_status', id, progress: { done, total: 200 } });
    await settle();
    clock.advance(5);
  }
  client.succeed(id, 'done');
  const notes = (await held).flatMap(({ params }) => params ?? []);
  const of = (progress: number) => notes.find((one) => one.progress === progress);
  expect(of(50)).toMatchObject({ total: 100, message: 'At 50' });
  expect(of(100)).toMatchObject({ total: 100, message: 'At 100' });
  expect(notes.filter(({ message }) => message === 'At 0')).toHaveLength(1);
  expect(notes.length).toBeLessThan(12);
});

test('[MP60] null where a field may be left out is as if it were not there, but in arguments', async () => {
  const { send, asked, client } = await setupMcp();
  for (const params of [null, { cursor: null }, { _meta: null }]) {
    const [listed] = await send({ id: 1, method: 'tools/list', params });
    expect(listed).toMatchObject({ result: { tools: expect.any(Array) } });
  }
  const params = { name: 'echo', arguments: null, _meta: { progressToken: null } };
  const called = send({ id: 2, method: 'tools/call', params });
  const { id = '', args } = (await asked()) ?? {};
  expect(args).toEqual({});
  client.succeed(id, 'done');
  expect(textOf(await called)).toBe('done');
  const given = { name: 'echo', arguments: { text: null }, _meta: null };
  void send({ id: 3, method: 'tools/call', params: given });
  expect((await asked(2))?.args).toEqual({ text: null });
});

test.each([
  { capabilities: null, clientInfo: null },
  { capabilities: { sampling: true, roots: null }, clientInfo: { name: 'x' } },
  { protocolVersion: null, clientInfo: { name: 'x', version: 1 } },
])('[MP60] a client that says odd things of itself is greeted: %j', async (odd) => {
  const { send } = await setupMcp();
  const params = { protocolVersion: '2025-06-18', capabilities: {}, ...odd };
  const [answer] = await send({ id: 1, method: 'initialize', params });
  expect(answer).toMatchObject({ result: { serverInfo: expect.anything() } });
});

test.each([
  ['{"text":"a"}', { text: 'a' }],
  ['', {}],
])('[MP60] arguments that come as the text %j are read', async (text, args) => {
  const { send, asked } = await setupMcp();
  void send({ id: 1, method: 'tools/call', params: { name: 'echo', arguments: text } });
  expect((await asked())?.args).toEqual(args);
});

test('[MP60] a message with thousands of fields beside its arguments is refused before they are looked at', async () => {
  const { send } = await setupMcp();
  const many = Object.fromEntries(Array.from({ length: 6_000 }, (_, at) => [`k${at}`, {}]));
  const request = { id: 1, method: 'tools/call', params: { name: 'echo', arguments: {} } };
  const within = { ...request, params: { ...request.params, _meta: many } };
  for (const message of [within, { ...many, ...request }]) {
    await expect(send(message)).rejects.toMatchObject({ code: 'bad_request' });
  }
});

test('[MP22] who gives up waiting for a result ends no call', async () => {
  const { call, send, client, asked, calls, settle, clock } = await setupMcp();
  const first = call('echo', { sessionId: 'a' });
  const id = (await asked())?.id ?? '';
  clock.advance(50_000);
  await first;
  const waiting = call('callboard_result', { id: 2, sessionId: 'a', args: { call: id } });
  await settle();
  await send({ method: 'notifications/cancelled', params: { requestId: 2 } }, { sessionId: 'a' });
  await waiting;
  await settle();
  expect((await calls.get(id))?.phase).toBe('offered');
  client.succeed(id, 'kept');
  await expect.poll(async () => (await calls.get(id))?.status).toBe('SUCCEEDED');
});

test('[MP22] in the newest revision a caller that hangs up ends its call, and nothing is logged', async () => {
  const { answer, asked, calls, errors } = await setupMcp();
  const left = new AbortController();
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const request = new Request('http://callboard/mcp', {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' },
    },
    signal: left.signal,
  });
  const params = { name: 'echo', arguments: {}, _meta };
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  const answered = answer(request, body);
  const id = (await asked())?.id ?? '';
  left.abort();
  await answered;
  await expect.poll(async () => (await calls.get(id))?.phase).toBe('cancelling');
  expect(errors).toEqual([]);
});
