import type { IncomingMessage } from 'node:http';
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

/**
 * An object with some of its parts at hand. The rest is of a whole one, which is made when a part of
 * it is asked for: of a `Request` mostly none is, and a real one costs more than to route the
 * request. One that has a signal also has a finalizer, so that it outlives its answer until all
 * garbage is collected.
 */
export function lazily<T extends object>(
  prototype: T,
  parts: Readonly<Partial<T>>,
  make: () => T,
): T {
  let whole: T | undefined;
  return new Proxy<T>(Object.create(prototype), {
    get(_, name) {
      if (Object.hasOwn(parts, name)) return Reflect.get(parts, name);
      whole ??= make();
      const part: unknown = Reflect.get(whole, name, whole);
      return typeof part === 'function' ? part.bind(whole) : part;
    },
  });
}
