import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Another server on this machine, as somebody else's would be: what it is asked, it keeps. */
export interface Outside {
  readonly url: string;
  readonly requests: readonly string[];
  /** The `Cookie` of each. */
  readonly cookies: readonly string[];
  close(): Promise<void>;
}

/** `html` is what it answers with, `setCookies` what it plants. */
export async function startOutside(
  html = '',
  setCookies: readonly string[] = [],
): Promise<Outside> {
  const requests: string[] = [];
  const cookies: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    cookies.push(request.headers.cookie ?? '');
    response.setHeader('set-cookie', setCookies);
    response.setHeader('content-type', 'text/html');
    response.end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    cookies,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
