import type { McpPost } from './mcp-service.ts';

/** For the library: without a body, which was read, by a name of our own, since the host was checked before. */
export function toRequest({ headers, signal }: Pick<McpPost, 'headers' | 'signal'>): Request {
  const request = new Request('http://callboard/mcp', { method: 'POST' });
  for (const [name, value] of Object.entries(headers)) {
    // Credentials were read.
    if (name === 'authorization' || name === 'cookie') continue;
    if (typeof value === 'string') request.headers.set(name, value);
  }
  // The library refuses who takes one form alone; which one is sent is decided behind it.
  request.headers.set('accept', 'application/json, text/event-stream');
  // One that is made with a signal outlives its answer until all garbage is collected.
  return Object.defineProperty(request, 'signal', { value: signal });
}
