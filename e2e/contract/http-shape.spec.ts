import { ask, get, post, refusalOf } from './kit/ask.ts';
import { expect, sharedCallboard, test } from './kit/contract-test.ts';

const board = sharedCallboard();

/** Contract, sections 3, 6 and 7: none of them is renamed. */
const ROUTES = [
  ...['GET /v1/tools', 'POST /v1/tools/{name}/invoke', 'GET /api/tools'],
  ...['GET /v1/tool_calls', 'GET /v1/tool_calls/{id}', 'GET /v1/tool_calls/{id}/events'],
  ...['cancel', 'retry', 'approval', 'answer'].map((act) => `POST /v1/tool_calls/{id}/${act}`),
  ...['POST /v1/runs', 'GET /v1/runs', 'GET /v1/runs/{id}', 'GET /v1/runs/{id}/events'],
  ...['POST /v1/runs/{id}/messages', 'POST /v1/runs/{id}/cancel'],
  ...['POST /v1/blobs', 'GET /v1/blobs/{id}', 'POST /mcp', 'GET /healthz', 'GET /readyz'],
  ...['POST /internal/tools/register', 'POST /internal/tool_calls/{id}/submit'],
  'GET /internal/clients/{client_id}/requests',
];
/** These need no credential (contract, section 4). */
const PUBLIC = new Set([
  ...['POST /auth/sign-in', 'GET /healthz', 'GET /readyz'],
  ...['look', 'join', 'outcome'].map((what) => `POST /api/pairing/${what}`),
]);

interface OpenApi {
  readonly openapi: string;
  readonly info: { title: string; version: string };
  readonly paths: Record<string, Record<string, ApiOperation>>;
  readonly components: { securitySchemes: object };
}
interface ApiOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly security: object[];
  readonly parameters?: { name: string; in: string; required?: boolean; schema: object }[];
  readonly requestBody?: { content: object };
  readonly responses: Record<string, { description: string }>;
}

async function openApi() {
  const document = (await get(board(), '/openapi.json')).body as OpenApi;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      route: `${method.toUpperCase()} ${path}`,
      path,
      operation,
    })),
  );
  return { document, operations };
}

test('§6 /openapi.json lists every route, and is a document of OpenAPI 3.1', async () => {
  const { document, operations } = await openApi();
  expect(document.openapi).toMatch(/^3\.1\.\d+$/);
  expect(document.info.title).not.toBe('');
  expect(document.components.securitySchemes).toMatchObject({
    bearer: { type: 'http', scheme: 'bearer' },
    cookie: { type: 'apiKey', in: 'cookie' },
    session: { type: 'apiKey', in: 'header', name: 'x-callboard-session' },
  });
  expect(operations.map(({ route }) => route)).toEqual(expect.arrayContaining(ROUTES));
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { route, path, operation } of operations) {
    const declared = (operation.parameters ?? [])
      .filter((one) => one.in === 'path')
      .map(({ name, required }) => [name, required]);
    const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, true]);
    expect(declared, route).toEqual(wanted);
    expect(Object.keys(operation.responses).length, route).toBeGreaterThan(1);
    for (const { description } of Object.values(operation.responses))
      expect(description).not.toBe('');
    expect(operation.security.length > 0, route).toBe(!PUBLIC.has(route));
  }
  const text = JSON.stringify(document);
  for (const [, pointer] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const found = (pointer ?? '')
      .split('/')
      .reduce<unknown>((at, key) => Object(at)[key], document);
    expect(found, pointer).toBeDefined();
  }
});

test('[HT1] T08 T15: §4 every route but the public ones answers the same 401 without a credential, there or not', async () => {
  const { operations } = await openApi();
  const bodies = new Set<string>();
  const closed = operations.filter(({ route }) => !PUBLIC.has(route));
  for (const { route, path } of closed) {
    const real = path.replaceAll(/\{\w+\}/g, 'x');
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const answer = await ask(board(), method, real, {
        token: null,
        body: method === 'GET' ? undefined : '{}',
      });
      expect(answer.status, `${method} ${route}`).toBe(401);
      expect(answer.headers['www-authenticate']).toContain('Bearer');
      bodies.add(answer.text);
    }
  }
  for (const path of ['/v1/nowhere', '/api', '/internal/x', '/mcp', '/v1/tool_calls/tc_1/x']) {
    const answer = await get(board(), path, { token: null });
    expect(answer.status, path).toBe(401);
    bodies.add(answer.text);
  }
  expect(bodies.size).toBe(1);
});

test('[HT7] §9 a path that is not there is 404, a method that it does not take 405 with those that it does', async () => {
  expect(refusalOf(await get(board(), '/v1/nowhere'))).toMatchObject({
    status: 404,
    code: 'not_found',
  });
  for (const [method, path, allowed] of [
    ['DELETE', '/v1/tools', 'GET'],
    ['GET', '/v1/tools/x/invoke', 'POST'],
    ['PUT', '/v1/runs', 'GET, POST'],
    ['OPTIONS', '/v1/tools', 'GET'],
  ] as const) {
    const answer = await ask(board(), method, path);
    expect(refusalOf(answer), `${method} ${path}`).toMatchObject({
      status: 405,
      code: 'method_not_allowed',
    });
    for (const one of allowed.split(', ')) expect(answer.headers.allow).toContain(one);
  }
});

test('T144: §6 data is not cached, not sniffed and runs nothing, refusals too', async () => {
  const answers = [
    await get(board(), '/v1/tools'),
    await get(board(), '/v1/tool_calls'),
    await get(board(), '/v1/tools', { token: null }),
    await get(board(), '/v1/nowhere'),
    await get(board(), '/healthz'),
    await post(board(), '/v1/tools/x/invoke', '{'),
    await get(board(), '/metrics'),
  ];
  for (const { headers } of answers) {
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['access-control-allow-origin']).toBeUndefined();
    expect(headers['x-powered-by']).toBeUndefined();
  }
});

test('§9 blobs that are none are refused: empty, too large, not what they say, nowhere', async () => {
  const put = (body: string | Buffer, type: string) =>
    post(board(), '/v1/blobs', body, { headers: { 'content-type': type } });
  expect(refusalOf(await put('', 'image/png')).status).toBe(400);
  expect(refusalOf(await put('not a picture', 'image/png'))).toMatchObject({
    status: 415,
    code: 'unsupported_media_type',
  });
  const large = Buffer.alloc(16 * 1024 * 1024 + 1);
  expect(refusalOf(await put(large, 'application/octet-stream')).status).toBe(413);
  for (const id of ['blob_x', `blob_${'0'.repeat(40)}`, '..%2f..%2fcallboard.db', '%2e%2e']) {
    expect([400, 404], id).toContain((await get(board(), `/v1/blobs/${id}`)).status);
  }
});

test('[HT8] §3 /healthz and /readyz answer without a token, and /metrics gives an operator numbers', async () => {
  for (const path of ['/healthz', '/readyz']) {
    expect((await get(board(), path, { token: null })).status).toBe(200);
  }
  const { text, headers } = await get(board(), '/metrics');
  expect(headers['content-type']).toContain('text/plain');
  for (const line of text.trim().split('\n')) {
    expect(line).toMatch(/^(?:# (?:HELP|TYPE) \w+ .+|\w+(?:\{[^}]*\})? -?[\d.e+]+)$/);
  }
});
