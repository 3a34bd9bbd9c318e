import http, { Agent, type RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { serveHttp } from '#lib/net/testing/serve-http';
import { isSentByTool } from '#lib/protocol/sent-by-tool';
import { ToolError } from '../define-tool.ts';
import { runBuiltin } from '../testing/run-builtin.ts';
import { createHttpRequest, type HttpRequestDeps } from './http-request.ts';
import { isPublicAddress } from './http-targets.ts';

/** A host on a real socket of this machine, which counts who connects. */
async function serve(listener: RequestListener) {
  const connections: string[] = [];
  const asked: { line: string; headers: NodeJS.Dict<string | string[]>; body: string }[] = [];
  const { server, port, origin, close } = await serveHttp(async (request, response) => {
    const { method, url, headers } = request;
    asked.push({ line: `${method} ${url}`, headers, body: await text(request) });
    listener(request, response);
  });
  server.on('connection', ({ remoteAddress }) => connections.push(remoteAddress ?? ''));
  onTestFinished(close);
  return { connections, asked, port, base: origin, close };
}

const helloAnswer: RequestListener = (_, response) => response.end('hello');

function toolFor(deps: Partial<HttpRequestDeps>) {
  const headers = ['accept', 'content-type', 'x-api-key'];
  return createHttpRequest({ hosts: [], private_hosts: [], methods: ['GET'], headers, ...deps });
}

/** May ask one host of this machine. */
const toolAt = ({ port }: { port: number }, deps: Partial<HttpRequestDeps> = {}) =>
  toolFor({ private_hosts: [`127.0.0.1:${port}`], ...deps });

const isRefusal = (message: RegExp) => (error: unknown) => {
  expect(error).toBeInstanceOf(ToolError);
  expect(error).toMatchObject({ executed: 'no', message: expect.stringMatching(message) });
  return true;
};
const refused = (asking: Promise<unknown>, message = /public internet/) =>
  expect(asking).rejects.toSatisfy(isRefusal(message));

test('it says that it reaches the world outside, so that what it gives counts as content of others', () => {
  expect(toolFor({}).annotations).toMatchObject({ openWorldHint: true });
});

test('[TB12] an allowed host is asked, and its answer comes with status, headers and text', async () => {
  const host = await serve((_, response) => {
    response.writeHead(404, { 'content-type': 'text/plain; charset=latin1', 'set-cookie': 'a=b' });
    response.end(Buffer.from('caf\xe9', 'latin1'));
  });
  const output = await runBuiltin(toolAt(host), { url: `${host.base}/a?b=1` });
  expect(output).toMatchObject({ url: `${host.base}/a?b=1`, status: 404, body: 'café' });
  expect(output).toMatchObject({ truncated: false, headers: { connection: 'close' } });
  expect(JSON.stringify(output)).not.toContain('a=b');
  expect(host.asked.map(({ line }) => line)).toEqual(['GET /a?b=1']);
});

test('[TB12] what is not text is left out', async () => {
  const host = await serve((_, response) => {
    response.writeHead(200, { 'content-type': 'image/png' }).end('PNG');
  });
  const output = await runBuiltin(toolAt(host), { url: host.base });
  expect(output).toMatchObject({ body: null, note: expect.stringContaining('3 bytes') });
});

test('[TB12] methods, headers and a body are those of the lists', async () => {
  const host = await serve(helloAnswer);
  const tool = toolAt(host, { methods: ['POST'] });
  const headers = { 'Content-Type': 'text/csv', 'X-Api-Key': 'k' };
  await runBuiltin(tool, { url: host.base, method: 'POST', headers, body: 'ä,b' });
  expect(host.asked).toMatchObject([
    { line: 'POST /', body: 'ä,b', headers: { 'content-type': 'text/csv', 'x-api-key': 'k' } },
  ]);
  const reading = toolAt(host);
  await expect(runBuiltin(reading, { url: host.base, method: 'POST' })).rejects.toThrow(/method/);
  await refused(runBuiltin(reading, { url: host.base, body: 'x' }), /has no body/);
  for (const name of ['Authorization', 'Cookie', 'Host', 'Via', 'Transfer-Encoding']) {
    const asking = runBuiltin(reading, { url: host.base, headers: { [name]: 'x' } });
    await refused(asking, /may not be set/);
  }
  const split = runBuiltin(reading, { url: host.base, headers: { accept: 'a\r\nx-api-key: b' } });
  await refused(split, /characters/);
  expect(host.asked).toHaveLength(1);
  expect([tool.effect, reading.effect]).toEqual(['write', 'read']);
});

const NOT_PUBLIC = `
  127.0.0.1 127.1 2130706433 0x7f000001 0177.0.0.1 127.0.0.1. 0.0.0.0 0 [::1] [::]
  [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [64:ff9b::7f00:1] [2002:7f00:1::]
  [fe80::1] [fd00:ec2::254] 10.1.2.3 172.31.0.1 192.168.1.1 100.100.100.200 169.254.169.254
  168.63.129.16 224.0.0.1 255.255.255.255 ①②⑦.0.0.1 localhost LOCALHOST.
`;

test.each(NOT_PUBLIC.trim().split(/\s+/))(
  '[TB13] T107: %s is not connected to, whatever the list of hosts',
  async (name) => {
    const host = await serve(helloAnswer);
    const tool = toolFor({ hosts: [`*:${host.port}`] });
    await refused(runBuiltin(tool, { url: `http://${name}:${host.port}/` }));
    expect(host.connections).toEqual([]);
  },
);

test('[TB13] T107: addresses of the public internet are told from all others', () => {
  const publicOnes = ['1.1.1.1', '8.8.8.8', '172.32.0.1', '2606:4700::1111', '2a00:1450:4001::5'];
  expect(publicOnes.filter((address) => !isPublicAddress(address))).toEqual([]);
  const others = ['198.18.0.1', '192.0.0.192', '240.0.0.1', 'ff02::1', 'fec0::1', '100::1'];
  const more = ['2001:db8::1', '2001::1', 'fe80::1%eth0', '::ffff:8.8.8.8', '64:ff9b:1::1'];
  expect([...others, ...more].filter(isPublicAddress)).toEqual([]);
});

test.each([
  ['ftp://a.example/', /Only http and https/],
  ['file:///etc/passwd', /Only http and https/],
  ['gopher://a.example/', /Only http and https/],
  ['http://user:pass@a.example/', /name and password/],
  ['http://a.example:22/', /a\.example:22 is not in the list/],
  ['http://other.example/', /not in the list/],
  ['http://a.example.evil.test/', /not in the list/],
  ['http://evil-a.example/', /not in the list/],
  ['http://sub.example/', /not in the list/],
  ['http://evilsub.example/', /not in the list/],
  ['not an address', /is not an http/],
])('[TB13] T107: %s is refused before its name is looked up', async (url, message) => {
  const looked: string[] = [];
  const resolve: HttpRequestDeps['resolve'] = async (host) => {
    looked.push(host);
    return [];
  };
  const tool = toolFor({ hosts: ['a.example', '*.sub.example'], resolve });
  await refused(runBuiltin(tool, { url }), message);
  expect(looked).toEqual([]);
  await refused(runBuiltin(tool, { url: 'https://A.Example./' }), /no address/);
  await refused(runBuiltin(tool, { url: 'http://x.sub.example/' }), /no address/);
  expect(looked).toEqual(['a.example', 'x.sub.example']);
});

test('[TB13] T107: a name with one address that is not public is not asked', async () => {
  const host = await serve(helloAnswer);
  const resolve = async () => [
    { address: '1.1.1.1', family: 4 },
    { address: '127.0.0.1', family: 4 },
  ];
  const tool = toolFor({ hosts: [`mixed.example:${host.port}`], resolve });
  await refused(runBuiltin(tool, { url: `http://mixed.example:${host.port}/` }));
  expect(host.connections).toEqual([]);
});

test('[TB14] T108: a name is resolved once, and that address is connected to', async () => {
  const host = await serve(helloAnswer);
  const answers = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
  const resolve = async () => [{ address: answers.shift() ?? '', family: 4 }];
  const name = `rebind.example:${host.port}`;
  const tool = toolFor({ private_hosts: [name], resolve });
  expect(await runBuiltin(tool, { url: `http://${name}/` })).toMatchObject({ body: 'hello' });
  expect(answers).toEqual(['127.0.0.2', '127.0.0.3']);
  expect(host.asked[0]?.headers.host).toBe(name);
});

test('[TB14] T108: a redirect is checked like a first request', async () => {
  const inner = await serve(helloAnswer);
  const targets = [
    `http://127.0.0.1:${inner.port}/`,
    `http://public.example:${inner.port}/`,
    `//127.1:${inner.port}/`,
    'file:///etc/passwd',
  ];
  for (const location of targets) {
    const outer = await serve((_, response) => response.writeHead(302, { location }).end());
    const hosts = [`public.example:${inner.port}`];
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
    const tool = toolAt(outer, { hosts, resolve });
    await expect(runBuiltin(tool, { url: outer.base })).rejects.toMatchObject({
      // The first request was made, and the address is the word of its host.
      executed: 'yes',
      message: expect.stringMatching(/public internet|not in the list|Only/),
    });
  }
  expect(inner.connections).toEqual([]);
});

test('[TB14] T108: to another host no key is sent on, and no body where the method changes', async () => {
  const second = await serve(helloAnswer);
  const first = await serve((_, response) =>
    response.writeHead(303, { location: `${second.base}/next` }).end(),
  );
  const private_hosts = [first, second].map(({ port }) => `127.0.0.1:${port}`);
  const tool = toolFor({ private_hosts, methods: ['GET', 'POST'] });
  const headers = { 'x-api-key': 'k', accept: 'text/plain', 'content-type': 'text/csv' };
  const args = { url: first.base, method: 'POST', headers, body: 'a,b' };
  expect(await runBuiltin(tool, args)).toMatchObject({ url: `${second.base}/next` });
  expect(second.asked).toMatchObject([{ line: 'GET /next', body: '' }]);
  expect(second.asked[0]?.headers).toMatchObject({ accept: 'text/plain' });
  expect(second.asked[0]?.headers).not.toHaveProperty('x-api-key');
  expect(second.asked[0]?.headers).not.toHaveProperty('content-type');
});

test('[TB14] redirects in a circle end', async () => {
  const host = await serve((_, response) => response.writeHead(302, { location: '/' }).end());
  const asking = runBuiltin(toolAt(host), { url: host.base });
  await expect(asking).rejects.toThrow(/more than 5 times/);
  expect(host.asked).toHaveLength(6);
});

test('[TB15] T109: each request is marked as one of a tool, and has no credential of the server', async () => {
  const host = await serve(helloAnswer);
  await runBuiltin(toolAt(host), { url: host.base });
  const { via, ...headers } = host.asked[0]?.headers ?? {};
  expect(isSentByTool(String(via))).toBe(true);
  expect(Object.keys(headers).toSorted()).toEqual([
    'accept-encoding',
    'connection',
    'host',
    'user-agent',
  ]);
});

test('[TB15] the proxy of the environment is not used', async () => {
  const proxy = await serve(helloAnswer);
  const host = await serve(helloAnswer);
  const before = http.globalAgent;
  // What Node makes of `http_proxy` at its start, with NODE_USE_ENV_PROXY.
  http.globalAgent = new Agent({ proxyEnv: { NODE_ENV: 'test', http_proxy: proxy.base } });
  try {
    await runBuiltin(toolAt(host), { url: host.base });
  } finally {
    http.globalAgent = before;
  }
  expect([proxy.connections.length, host.connections.length]).toEqual([0, 1]);
});

test('[TB16] T110: an endless answer is cut', async () => {
  const host = await serve((_, response) => {
    const pump = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    };
    response.on('drain', pump);
    pump();
  });
  const output = await runBuiltin(toolAt(host), { url: host.base });
  expect(output).toMatchObject({ truncated: true, body: 'x'.repeat(1024 * 1024) });
});

test('[TB16] T110: a packed answer is cut by what it unpacks to', async () => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 'a'));
  const host = await serve((_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/plain' }).end(bomb);
  });
  const output = await runBuiltin(toolAt(host), { url: host.base });
  expect(output).toMatchObject({ truncated: true, body: 'a'.repeat(1024 * 1024) });
});

test('[TB16] a packed answer that is broken, or packed in an unknown way, is an error', async () => {
  for (const encoding of ['gzip', 'zstd']) {
    const host = await serve((_, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end('no such thing');
    });
    await expect(runBuiltin(toolAt(host), { url: host.base })).rejects.toThrow(ToolError);
  }
});

test('[TB16] T110: an answer that drips ends with the time of the call', async () => {
  const host = await serve((_, response) => {
    const timer = setInterval(() => response.write('x'), 5);
    response.on('close', () => clearInterval(timer));
  });
  const asking = runBuiltin(toolAt(host, { timeoutMs: 300 }), { url: host.base });
  await expect(asking).rejects.toThrow(/did not answer in time/);
});

test('[TB16] a host that does not answer, or is not there, is named by what to do', async () => {
  const host = await serve(() => {});
  const cancel = new AbortController();
  const asking = runBuiltin(toolAt(host), { url: host.base }, { signal: cancel.signal });
  await expect.poll(() => host.asked.length).toBe(1);
  cancel.abort();
  await expect(asking).rejects.toThrow(/did not answer in time/);
  await host.close();
  const again = runBuiltin(toolAt(host), { url: host.base });
  await expect(again).rejects.toThrow(/ECONNREFUSED/);
});
