import { z } from 'zod';
import type { Callboard } from '../start-callboard.ts';
import { ask } from './kit/ask.ts';
import { expect, sharedCallboard, test } from './kit/contract-test.ts';
import { connectMcp, MCP_CLIENTS, type McpClient } from './kit/mcp-clients.ts';
import { asToken, makeToken } from './kit/tokens.ts';
import { reader, type ToolClient } from './kit/tool-client.ts';

/** One red pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

const board = sharedCallboard();
let agents = 0;

/** The same server, asked by a program that may call `tools`. */
async function newAgent(...tools: string[]): Promise<Callboard> {
  agents += 1;
  const token = await makeToken(board(), { kind: 'agent', name: `mcp-${agents}`, tools });
  return asToken(board(), token);
}

/** Answers the next request of the client as `output` says. */
async function answer(client: ToolClient, output: unknown, more: object = {}) {
  const { id } = await client.request();
  client.succeed(id, output, more);
}

for (const kind of MCP_CLIENTS) {
  test.describe(`the client ${kind}`, () => {
    let mcp: McpClient | undefined;
    test.afterEach(() => mcp?.close());

    test('[MP1] lists what its agent may call, by names all hosts take', async ({ connect }) => {
      await connect.client(board(), { tools: [reader('shop.look'), reader('hidden.look')] });
      mcp = await connectMcp(await newAgent('shop.*'), kind);
      const tools = await mcp.list();
      expect(tools.map(({ name }) => name)).toEqual(['shop_look', 'callboard_result']);
      for (const { name } of tools) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,48}$/);
      expect(tools[0]?.inputSchema).toMatchObject({ type: 'object' });
      // A client's own word, on which a host would ask no person.
      expect(tools[0]?.annotations).not.toHaveProperty('readOnlyHint');
    });

    test('[MP10] [MP11] gets the text first and a picture as a picture', async ({ connect }) => {
      const page = await connect.client(board(), { tools: [reader('page.look')] });
      mcp = await connectMcp(await newAgent('page.*'), kind);
      const answered = answer(
        page,
        { seen: true },
        { attachments: [{ media_type: 'image/png', data: PNG, alt: 'red' }] },
      );
      const { content, ...more } = await mcp.call('page_look', { at: 'top' });
      await answered;
      expect(content).toMatchObject([
        { type: 'text', text: '{"seen":true}' },
        { type: 'image', mimeType: 'image/png' },
      ]);
      expect(more).not.toHaveProperty('structuredContent');
      expect(more.isError).toBeFalsy();
    });

    test('[MP13] gets the reason of a failure and whether the tool ran', async ({ connect }) => {
      const page = await connect.client(board(), { tools: [reader('page.fail')] });
      mcp = await connectMcp(await newAgent('page.*'), kind);
      const result = mcp.call('page_fail');
      const { id } = await page.request();
      page.fail(id, 'The shop is closed');
      expect(await result).toMatchObject({
        isError: true,
        content: [{ type: 'text', text: 'The shop is closed\n(tool_error) It ran.' }],
      });
    });

    test('[MP16] gets what a call of wrong arguments lacks as a result, and no call is recorded', async ({
      connect,
    }) => {
      const parameters = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
      await connect.client(board(), { tools: [reader('page.count', { parameters })] });
      mcp = await connectMcp(await newAgent('page.*'), kind);
      const { isError, content } = await mcp.call('page_count', {});
      expect(isError).toBe(true);
      expect(content[0]?.text).toContain('(invalid_args) It did not run.');
    });
  });
}

test('[MP32] a person’s token, a cookie and no token open no session of MCP', async () => {
  const message = { jsonrpc: '2.0', id: 1, method: 'ping' };
  const person = await ask(board(), 'POST', '/mcp', { body: message });
  expect(person.status).toBe(403);
  const none = await ask(board(), 'POST', '/mcp', { body: message, token: null });
  expect(none.status).toBe(401);
  expect(none.headers['www-authenticate']).toMatch(/^Bearer/);
});

test('clients that look for an OAuth server find none, and no page to sign in to', async () => {
  for (const path of [
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/openid-configuration',
    '/register',
  ]) {
    for (const method of ['GET', 'POST']) {
      const { status, headers } = await ask(board(), method, path, { token: null });
      expect({ path, status }).toEqual({ path, status: 404 });
      expect(headers['content-type']).toContain('json');
    }
  }
});

test('[MP32] a foreign Origin is refused, with the token of an agent too, and none is needed', async () => {
  const agent = await newAgent('shop.*');
  const initialize = {
    ...{ protocolVersion: '2025-06-18', capabilities: {} },
    clientInfo: { name: 'test', version: '1' },
  };
  const statusFrom = async (origin: object) => {
    const { status } = await ask(agent, 'POST', '/mcp', {
      body: { jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize },
      headers: { accept: 'application/json, text/event-stream', ...origin },
    });
    return status;
  };
  expect(await statusFrom({ origin: 'https://foreign.example' })).toBe(403);
  expect(await statusFrom({ origin: 'null' })).toBe(403);
  expect(await statusFrom({ origin: agent.url.replace(/\/$/, '') })).toBe(200);
  expect(await statusFrom({})).toBe(200);
});

/** One message of the revision 2026-07-28, as a client without a library sends it. */
const newest = async (
  board: Callboard,
  method: string,
  params: Record<string, unknown>,
  { tasks = false, urls = false, name }: { tasks?: boolean; urls?: boolean; name?: string } = {},
) => {
  const capabilities = {
    ...(tasks ? { extensions: { 'io.modelcontextprotocol/tasks': {} } } : {}),
    ...(urls ? { elicitation: { url: {} } } : {}),
  };
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  };
  const { body, status } = await ask(board, 'POST', '/mcp', {
    body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
    headers: {
      ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28' },
      ...{ 'mcp-method': method, ...(name === undefined ? {} : { 'mcp-name': name }) },
    },
  });
  return { status, ...messageSchema.parse(body) };
};

const messageSchema = z.looseObject({
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.looseObject({ code: z.number(), message: z.string() }).optional(),
});

const taskOf = (board: Callboard, taskId: string) =>
  newest(board, 'tasks/get', { taskId }, { tasks: true, name: taskId });

test('[MP40] [MP42] a call that takes its time is a task, and the task has the result', async ({
  connect,
}) => {
  const page = await connect.client(board(), { tools: [reader('task.run')] });
  const agent = await newAgent('task.*');
  const created = newest(
    agent,
    'tools/call',
    { name: 'task_run', arguments: {} },
    { tasks: true, name: 'task_run' },
  );
  const { id } = await page.request();
  expect((await created).result).toMatchObject({
    ...{ resultType: 'task', taskId: id, status: 'working', ttlMs: null, pollIntervalMs: 500 },
  });
  expect((await taskOf(agent, id)).result).toMatchObject({
    ...{ resultType: 'complete', status: 'working' },
  });
  page.succeed(id, 'done');
  await expect.poll(async () => (await taskOf(agent, id)).result?.status).toBe('completed');
  expect((await taskOf(agent, id)).result?.result).toMatchObject({
    ...{ resultType: 'complete', content: [{ type: 'text', text: 'done' }] },
  });
});

test('[MP41] a task is its agent’s alone, and is there for clients that know tasks', async ({
  connect,
}) => {
  const page = await connect.client(board(), { tools: [reader('task.own')] });
  const agent = await newAgent('task.*');
  const other = await newAgent('task.*');
  const call = { name: 'task_own', arguments: {} };
  const created = newest(agent, 'tools/call', call, { tasks: true, name: 'task_own' });
  const { id } = await page.request();
  await created;
  const foreign = await taskOf(other, id);
  const none = await taskOf(agent, 'tc_none');
  expect(foreign.error).toMatchObject({ code: -32_602, message: 'Task not found' });
  expect(none.error?.code).toBe(foreign.error?.code);
  const unable = await newest(agent, 'tasks/get', { taskId: id }, { name: id });
  expect(unable.error?.code).toBe(-32_021);
  page.succeed(id, 'x');
});

test('[MP43] a cancelled task stops at its client, and stays cancelled', async ({ connect }) => {
  const page = await connect.client(board(), {
    hello: { caps: ['cancel'] },
    tools: [reader('task.stop')],
  });
  const agent = await newAgent('task.*');
  const call = { name: 'task_stop', arguments: {} };
  const created = newest(agent, 'tools/call', call, { tasks: true, name: 'task_stop' });
  const { id } = await page.request();
  await created;
  const cancel = () => newest(agent, 'tasks/cancel', { taskId: id }, { tasks: true, name: id });
  expect((await cancel()).error).toBeUndefined();
  expect(await page.next('tool_call_cancel')).toMatchObject({ id });
  await expect.poll(async () => (await taskOf(agent, id)).result?.status).toBe('cancelled');
  expect((await cancel()).error).toBeUndefined();
});

test('[MP14] an agent reads the attachments and texts of its own calls, and of no others', async ({
  connect,
}) => {
  const page = await connect.client(board(), { tools: [reader('read.much')] });
  const agent = await newAgent('read.*');
  const mcp = await connectMcp(agent, '1.x');
  const text = 'x'.repeat(200_000);
  const data = Buffer.from('%PDF-1.7').toString('base64');
  const answered = answer(page, text, { attachments: [{ media_type: 'application/pdf', data }] });
  const { content } = await mcp.call('read_much');
  await answered;
  expect(content.map(({ type }) => type)).toEqual(['text', 'resource_link', 'resource_link']);
  expect(content[0]?.text?.length).toBeLessThan(90_000);
  const [, whole = '', file = ''] = content.map(({ uri }) => uri);
  expect(await mcp.read(whole)).toMatchObject({ contents: [{ text }] });
  await expect
    .poll(() => mcp.read(file).catch(String))
    .toMatchObject({ contents: [{ blob: data }] });
  const other = await connectMcp(await newAgent('read.*'), '1.x');
  for (const uri of [whole, file, 'file:///etc/passwd', 'callboard://call/tc_none']) {
    await expect(other.read(uri)).rejects.toThrow('Resource not found');
  }
  await Promise.all([mcp.close(), other.close()]);
});

test('[MP1] the lists of two agents at one time have what each may call, and a name of the other is unknown', async ({
  connect,
}) => {
  await connect.client(board(), { tools: [reader('left.look'), reader('right.look')] });
  const [left, right] = [await newAgent('left.*'), await newAgent('right.*')];
  const namesOf = async (agent: Callboard) => {
    const { result } = await newest(agent, 'tools/list', {});
    const { tools } = z.object({ tools: z.array(z.object({ name: z.string() })) }).parse(result);
    return tools.map(({ name }) => name);
  };
  expect(await namesOf(left)).toEqual(['left_look', 'callboard_result']);
  expect(await namesOf(right)).toEqual(['right_look', 'callboard_result']);
  const refused = await newest(left, 'tools/call', { name: 'right_look' }, { name: 'right_look' });
  const unknown = await newest(left, 'tools/call', { name: 'no_tool' }, { name: 'no_tool' });
  expect(refused.error?.code).toBe(-32602);
  expect(refused.error?.message.replace('right_look', 'no_tool')).toBe(unknown.error?.message);
});

test('[MP15] [MP30] a session is its agent’s alone, and has an own run', async ({ connect }) => {
  const page = await connect.client(board(), { tools: [reader('run.one')] });
  const agent = await newAgent('run.*');
  const other = await newAgent('run.*');
  const headers = { accept: 'application/json, text/event-stream' };
  const params = {
    ...{ protocolVersion: '2025-06-18', capabilities: {} },
    clientInfo: { name: 'test', version: '1' },
  };
  const open = async () => {
    const body = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
    const { headers: answered } = await ask(agent, 'POST', '/mcp', { body, headers });
    return String(answered['mcp-session-id']);
  };
  const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'run_one' } };
  const runs = new Set<string>();
  for (const session of [await open(), await open()]) {
    const asked = ask(agent, 'POST', '/mcp', {
      body: call,
      headers: { ...headers, 'mcp-session-id': session },
    });
    const { id, run_id } = await page.request();
    runs.add(run_id);
    page.succeed(id, 'x');
    expect((await asked).status).toBe(200);
    const foreign = { body: call, headers: { ...headers, 'mcp-session-id': session } };
    expect((await ask(other, 'POST', '/mcp', foreign)).status).toBe(404);
  }
  expect(runs.size).toBe(2);
});

test('[MP44] [MP30] after a kill and a restart the same task answers, and an older client goes on in its session', async ({
  connect,
  startServer,
}) => {
  const first = await startServer();
  const token = await makeToken(first, { kind: 'agent', name: 'coder', tools: ['last.*'] });
  const page = await connect.client(first, { tools: [reader('last.run')] });
  const mcp = await connectMcp(asToken(first, token), '1.x');
  const call = { name: 'last_run', arguments: {} };
  const created = newest(asToken(first, token), 'tools/call', call, {
    ...{ tasks: true, name: 'last_run' },
  });
  const { id } = await page.request();
  await created;
  await first.stop('SIGKILL');
  const { dataDir, url } = first;
  const again = await startServer({
    ...{ dataDir, token: first.token, env: { CALLBOARD_PORT: new URL(url).port } },
  });
  const agent = asToken(again, token);
  expect((await taskOf(agent, id)).result).toMatchObject({ taskId: id, resultType: 'complete' });
  const back = await connect.client(again, { tools: [reader('last.run')] });
  const result = mcp.call('last_run');
  const request = await back.request();
  back.succeed(request.id, 'again');
  expect((await result).content[0]?.text).toBe('again');
  await mcp.close();
});
