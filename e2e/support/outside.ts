import type { OutgoingHttpHeaders } from 'node:http';
import { serveHttp } from '#lib/net/testing/serve-http';

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
  const { origin, close } = await serveHttp((request, response) => {
    requests.push(request.url ?? '');
    cookies.push(request.headers.cookie ?? '');
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers });
    response.end(typeof html === 'string' ? html : html());
  });
  return { url: origin, requests, cookies, close };
}
