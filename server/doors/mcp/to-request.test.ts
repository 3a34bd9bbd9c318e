import { expect, test } from 'vitest';
import { toRequest } from './json-rpc.ts';

const { signal } = new AbortController();
const headers = { authorization: 'Bearer cb_1', cookie: 'session=2', 'mcp-method': 'ping' };
const made = () => toRequest({ headers: { ...headers, accept: 'application/json' }, signal });

test('the SDK has the headers of a request without its credentials, also in a copy of it', () => {
  for (const request of [made(), new Request(made()), made().clone()]) {
    expect([...request.headers.keys()]).toEqual(['accept', 'mcp-method']);
    expect(request.headers.get('MCP-method')).toBe('ping');
    expect(request.headers.get('accept')).toContain('text/event-stream');
  }
});

test('the SDK is told when the caller hangs up', () => {
  expect(made().signal).toBe(signal);
  expect(made()).toBeInstanceOf(Request);
});
