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

    test('lists what its agent may call, by names that every host takes', async ({ connect }) => {
      await connect.client(board(), { tools: [reader('shop.look'), reader('hidden.look')] });
      mcp = await connectMcp(await newAgent('shop.*'), kind);
      const tools = await mcp.list();
      expect(tools.map(({ name }) => name)).toEqual(['shop_look', 'callboard_result']);
      for (const { name } of tools) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,48}$/);
      expect(tools[0]?.inputSchema).toMatchObject({ type: 'object' });
      // A client's own word, on which a host would ask no person.
      expect(tools[0]?.annotations).not.toHaveProperty('readOnlyHint');
    });

    test('gets the text first and a picture as a picture', async ({ connect }) => {
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

    test('gets the reason of a failure and whether the tool ran', async ({ connect }) => {
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

    test('gets what a call of wrong arguments lacks as a result, and no call is recorded', async ({
      connect,
    }) => {
      const parameters = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
      await connect.client(board(), { tools: [reader('page.count', { parameters })] });
      mcp = await connectMcp(await newAgent('page.*'), kind);
      const { isError, content } = await mcp.call('page_count', {});
      expect(isError).toBe(true);
      expect(content[0]?.text).toContain('(invalid_args) It did not run.');
    });

    test('sees progress that rises, with what the call waits for', async ({ connect }) => {
      const page = await connect.client(board(), { tools: [reader('page.slow')] });
      mcp = await connectMcp(await newAgent('page.*'), kind);
      const seen: { progress: number; message?: string | undefined }[] = [];
      const result = mcp.call('page_slow', {}, { onprogress: (one) => void seen.push(one) });
      const { id } = await page.request();
      for (const done of [10, 20]) {
        page.send({ type: 'tool_call_status', id, status: { progress: { done, total: 40 } } });
        const message = `${done} of 40.`;
        await expect.poll(() => seen.map((one) => one.message)).toContain(message);
      }
      page.succeed(id, 'slow');
      expect((await result).content[0]?.text).toBe('slow');
      const steps = seen.map(({ progress }) => progress);
      expect(steps).toEqual([...new Set(steps)].sort((a, b) => a - b));
    });

    test('learns that tools came', async ({ connect }) => {
      let changes = 0;
      mcp = await connectMcp(await newAgent('late.*'), kind, () => {
        changes += 1;
      });
      expect((await mcp.list()).map(({ name }) => name)).toEqual(['callboard_result']);
      await connect.client(board(), { tools: [reader('late.come')] });
      await expect.poll(() => changes).toBeGreaterThan(0);
      expect((await mcp.list()).map(({ name }) => name)).toContain('late_come');
    });

    test('ends its call when it wants it no more', async ({ connect }) => {
      const page = await connect.client(board(), {
        hello: { caps: ['cancel'] },
        tools: [reader('page.long')],
      });
      mcp = await connectMcp(await newAgent('page.*'), kind);
      const wanted = new AbortController();
      const result = mcp.call('page_long', {}, { signal: wanted.signal });
      const { id } = await page.request();
      wanted.abort();
      await expect(result).rejects.toThrow();
      expect(await page.next('tool_call_cancel')).toMatchObject({ id });
    });
  });
}

test('a person’s token, a cookie and no token open no session of MCP', async () => {
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
