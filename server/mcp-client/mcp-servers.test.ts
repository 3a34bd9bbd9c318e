import { expect, test } from 'vitest';
import { startTestServer, TOKENS } from '../http/testing/start-test-server.ts';
import { program, setupServers } from './testing/setup-servers.ts';

async function setup() {
  const files = {
    ...program('modern'),
    env: { NOTED: 'x' },
    tools: { echo: 'allow', 'f*': 'deny' },
  };
  const world = await setupServers({
    servers: { files },
    hide: (text) => text.replaceAll('NOTED', '[hidden]'),
  });
  await world.until('files', { state: 'connected' });
  const server = await startTestServer({ deps: { mcpServers: world.service } });
  return { world, server };
}

test('[MC40] people see the servers; a viewer without what their programs wrote', async () => {
  const { server } = await setup();
  const { json } = await server.get('/v1/mcp-servers');
  expect(json.servers).toMatchObject([
    {
      ...{ id: 'files', transport: 'stdio', state: 'connected', era: 'modern' },
      ...{ protocol: '2026-07-28', server: { name: 'fixture', version: '1.0.0' } },
      ...{ target: process.execPath, last_error: null, next_try_at: null, rejected: [] },
      stderr_tail: expect.stringContaining('[hidden]'),
    },
  ]);
  const effectOf = (name: string) =>
    json.servers[0].tools.find((one: { foreign_name: string }) => one.foreign_name === name);
  expect(effectOf('echo')).toMatchObject({
    name: 'files.echo',
    effect: 'allow',
    is_default: false,
  });
  expect(effectOf('fail')).toMatchObject({ effect: 'deny', is_default: false });
  expect(effectOf('huge')).toMatchObject({ effect: 'ask', is_default: true, is_withheld: false });
  const seen = await server.get('/v1/mcp-servers', { token: TOKENS.viewer });
  expect(seen.json.servers).toMatchObject([{ id: 'files', stderr_tail: null }]);
}, 30_000);

test('[MC40] [MC23] programs and devices see none, and do nothing to them', async () => {
  const { server, world } = await setup();
  const paths = ['/v1/mcp-servers/files/reconnect', '/v1/mcp-servers/files/accept'];
  for (const token of [TOKENS.agent, TOKENS.device]) {
    expect((await server.get('/v1/mcp-servers', { token })).status).toBe(403);
    for (const path of paths) {
      expect((await server.post(path, { tools: ['x'] }, { token })).status).toBe(403);
    }
  }
  const accept = (id: string) => server.post(`/v1/mcp-servers/${id}/accept`, { tools: ['x'] });
  expect(await accept('files')).toMatchObject({ status: 409 });
  expect(await accept('others')).toMatchObject({ status: 404 });
  expect(world.wire('files').state).toBe('connected');
}, 30_000);

test('[MC40] a person connects a server anew', async () => {
  const { server, world } = await setup();
  expect(world.wire('files').stderr_tail?.match(/started/g)).toHaveLength(1);
  const { status } = await server.post('/v1/mcp-servers/files/reconnect', {});
  expect(status).toBe(200);
  expect(world.audited.at(-1)).toMatchObject({ act: 'mcp_server_reconnected', target: 'files' });
  await world.until('files', {
    ...{ state: 'connected', stderr_tail: expect.stringMatching(/started.*started/s) },
  });
}, 30_000);
