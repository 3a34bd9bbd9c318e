import { once } from 'node:events';
import { createServer, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Another server on this machine, as somebody else's would be: what it is asked, it keeps. */
export interface Outside {
  readonly url: string;
  readonly requests: readonly string[];
  /** The `Cookie` of each. */
  readonly cookies: readonly string[];
  close(): Promise<void>;
}

/** It answers each request with this page, and these headers. */
export async function startOutside(
  html: string | (() => string) = '',
  headers: OutgoingHttpHeaders = {},
): Promise<Outside> {
  const requests: string[] = [];
  const cookies: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    cookies.push(request.headers.cookie ?? '');
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers });
    response.end(typeof html === 'string' ? html : html());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    cookies,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
