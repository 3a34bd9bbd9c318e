import { expect, test } from 'vitest';
import { callRecord } from './testing/fake-services.ts';
import { startTestServer, type TestServer, TOKENS } from './testing/start-test-server.ts';

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly description: string;
}

/** Every route of the reference, its varying parts filled in. */
async function routesOf(server: TestServer): Promise<Operation[]> {
  const { json } = await server.get('/openapi.json');
  const paths: [string, Record<string, { description: string }>][] = Object.entries(json.paths);
  return paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { description }]) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, 'tc_1'),
      description,
    })),
  );
}

const isPublic = ({ description }: Operation) => description === 'Needs no credential.';
const isForAdmins = ({ description }: Operation) => description.includes('with the role admin');

test('[HT1] T08: no route but the public ones answers without a token, and nothing happens', async () => {
  const server = await startTestServer();
  const routes = await routesOf(server);
  expect(routes.length).toBeGreaterThan(25);
  for (const route of routes.filter((one) => !isPublic(one))) {
    const { status } = await server.ask(route.method, route.path, { token: null, body: {} });
    expect([route.path, status]).toEqual([route.path, 401]);
  }
  expect([server.calls.fake.asked, server.clients.asked]).toEqual([[], []]);
});

test('[HT1] T15: without a token what is there and what is not are answered in the same words', async () => {
  const server = await startTestServer();
  server.calls.fake.records.set('tc_1', callRecord());
  const answers = await Promise.all(
    ['/v1/tool_calls/tc_1', '/v1/tool_calls/tc_2', '/v1/devices/dev_1', '/v1/nowhere'].flatMap(
      (path) => ['GET', 'DELETE'].map((method) => server.ask(method, path, { token: null })),
    ),
  );
  const [first] = answers;
  expect(first?.status).toBe(401);
  for (const { status, text } of answers) expect([status, text]).toEqual([401, first?.text]);
});

test('[DV40] T35: a device reads nothing that people or programs read', async () => {
  const server = await startTestServer();
  server.calls.fake.records.set('tc_1', callRecord());
  const isOwn = ({ path }: Operation) => /^\/(?:internal\/|v1\/me$|openapi)/.test(path);
  const routes = (await routesOf(server)).filter((one) => !isPublic(one) && !isOwn(one));
  for (const { path } of routes.filter(({ method }) => method === 'GET')) {
    const { status } = await server.get(path, { token: TOKENS.device });
    expect([path, status]).toEqual([path, 403]);
  }
});

test('[HT61] a viewer reads every path that is read, and changes nothing', async () => {
  const server = await startTestServer();
  server.calls.fake.records.set('tc_1', callRecord());
  const refused: string[] = [];
  const routes = (await routesOf(server)).filter((one) => !isPublic(one) && !isForAdmins(one));
  for (const route of routes) {
    const streams = route.path.endsWith('/events') || route.path.startsWith('/internal/');
    // MCP is for programs, the stream of its notifications too.
    if (route.method === 'GET' && (streams || route.path === '/mcp')) continue;
    const asked = { token: TOKENS.viewer, body: route.method === 'GET' ? undefined : {} };
    const { status, json } = await server.ask(route.method, route.path, asked);
    if (route.method === 'GET') expect([route.path, status]).not.toEqual([route.path, 403]);
    else if (status === 403) refused.push(`${route.method} ${route.path}`);
    else expect([route.path, status]).toEqual(['/auth/sign-out', 200]);
    if (status === 403)
      expect(json.error.message).toMatch(/role "viewer".*for (people with the role |programs)/);
  }
  expect(refused).toContain('POST /v1/tool_calls/tc_1/approval');
  expect(refused).toContain('POST /v1/tools/tc_1/invoke');
  expect(server.calls.fake.asked.map(({ what }) => what).filter((what) => what !== 'list')).toEqual(
    [],
  );
});

test('[HT68] each caller reads who it is', async () => {
  const server = await startTestServer();
  const me = async (token: string) => (await server.get('/v1/me', { token })).json;
  const none = { role: null, tools: null, client_id: null };
  expect(await me(TOKENS.operator)).toEqual({
    ...{ ...none, kind: 'operator', name: 'operator', role: 'admin', token_id: null },
  });
  expect(await me(TOKENS.viewer)).toMatchObject({
    ...{ kind: 'operator', name: 'vera', role: 'viewer', token_id: 'tok_vera' },
  });
  expect(await me(TOKENS.agent)).toEqual({
    ...{ ...none, kind: 'agent', name: 'helper', tools: ['echo'], token_id: 'tok_helper' },
  });
  expect(await me(TOKENS.device)).toMatchObject({ kind: 'device', client_id: 'client_1' });
  expect((await server.get('/v1/me', { token: null })).status).toBe(401);
});
