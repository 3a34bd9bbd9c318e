import type { IncomingMessage } from 'node:http';
import { lazily } from './lazily.ts';
import type { RequestContext } from './route.ts';

/** Without its body, which was read; by a name of our own, since the host was checked before. */
export function toRequest(context: Pick<RequestContext, 'incoming' | 'signal'>): Request {
  const { incoming, signal } = context;
  const parts = { method: 'POST', headers: toHeaders(incoming), signal: signal() };
  return lazily(Request.prototype, parts, () => new Request('http://callboard/mcp', parts));
}

/** Without credentials: those were read. */
function toHeaders({ headers }: IncomingMessage): Headers {
  const isPassed = (name: string) => name !== 'authorization' && name !== 'cookie';
  const get = (name: string): string | null => {
    // The library refuses who takes one form alone; which one is sent is decided behind it.
    if (name === 'accept') return 'application/json, text/event-stream';
    const value = isPassed(name) ? headers[name] : undefined;
    return typeof value === 'string' ? value : null;
  };
  return lazily(Headers.prototype, { get: (name) => get(name.toLowerCase()) }, () => {
    const all = ['accept', ...Object.keys(headers)].map((name) => [name, get(name)] as const);
    return new Headers(all.flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
  });
}
