import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { serveHttp } from '#lib/net/testing/serve-http';
import { openHttp } from './connect-server.ts';

test.each([
  ['0', 1_000],
  ['99999999999', 60_000],
])(
  '[MC26] a stream that ends with retry: %s is opened again no sooner than after %i ms',
  async (retry, ms) => {
    const { origin, close } = await serveHttp((_, answer) => {
      answer.writeHead(200, { 'content-type': 'text/event-stream' });
      answer.end(`retry: ${retry}\n\n`);
    });
    onTestFinished(close);
    const scheduled = vi.spyOn(globalThis, 'setTimeout');
    onTestFinished(() => scheduled.mockRestore());
    const transport = openHttp({ url: `${origin}/`, headers: {} });
    onTestFinished(() => transport.close());
    if (!(transport instanceof StreamableHTTPClientTransport)) throw new Error('It is another');
    await transport.start();
    await transport.resumeStream('1');
    const waits = () => scheduled.mock.calls.map(([, wait]) => wait);
    await expect.poll(waits).toContain(ms);
  },
);
