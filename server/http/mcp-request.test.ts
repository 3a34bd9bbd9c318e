import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { lazily, toRequest } from './mcp-request.ts';

/** What the SDK is given of a request with these headers. */
async function given(headers: Record<string, string>): Promise<Request> {
  const made = Promise.withResolvers<Request>();
  const server = createServer((incoming, outgoing) => {
    made.resolve(toRequest({ incoming, signal: () => new AbortController().signal }));
    outgoing.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  request({ port, host: '127.0.0.1', method: 'POST', agent: false, headers }, (answer) =>
    answer.resume(),
  ).end();
  return await made.promise;
}

const HEADERS = { authorization: 'Bearer cb_1', Cookie: 'session=2', 'Mcp-Method': 'ping' };

test('the SDK has the headers of a request without its credentials', async () => {
  const { headers } = await given(HEADERS);
  expect(headers.get('MCP-method')).toBe('ping');
  expect([headers.get('Authorization'), headers.get('cookie')]).toEqual([null, null]);
});

test('nor are they among all its headers, or in a copy of the request', async () => {
  const made = await given(HEADERS);
  const names = [...new Request(made.url, made).headers.keys(), ...made.headers.keys()];
  expect(names).toContain('mcp-method');
  expect(names).not.toContain('authorization');
  expect(names).not.toContain('cookie');
});

function lazyRequest() {
  const made: Request[] = [];
  const request = lazily(Request.prototype, { method: 'POST' }, () => {
    const whole = new Request('http://callboard/mcp', { method: 'POST', body: 'whole' });
    made.push(whole);
    return whole;
  });
  return { request, made };
}

test('What is at hand makes nothing whole', () => {
  const { request, made } = lazyRequest();
  expect(request.method).toBe('POST');
  expect(request).toBeInstanceOf(Request);
  expect(made).toEqual([]);
});

test('All else is of one whole that is made once: fields, methods, and copies', async () => {
  const { request, made } = lazyRequest();
  expect(request.url).toBe('http://callboard/mcp');
  expect(await request.clone().text()).toBe('whole');
  expect(await request.text()).toBe('whole');
  expect(request.bodyUsed).toBe(true);
  expect(made).toHaveLength(1);
});
