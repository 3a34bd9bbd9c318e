import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Another server on this machine, as somebody else's would be: what it is asked, it keeps. */
export interface Outside {
  readonly url: string;
  readonly requests: readonly string[];
  close(): Promise<void>;
}

/** `html` is what it answers with. */
export async function startOutside(html = ''): Promise<Outside> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    response.setHeader('content-type', 'text/html');
    response.end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
