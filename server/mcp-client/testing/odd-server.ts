import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { serveHttp } from '#lib/net/testing/serve-http';

export interface Asked {
  readonly id?: number;
  readonly method: string;
  readonly params: Record<string, unknown> & { readonly name?: string };
}

/** What becomes of a request; undefined: the answer is the usual one. */
export type Answer = (asked: Asked, outgoing: ServerResponse, incoming: IncomingMessage) => unknown;

const USUAL: Readonly<Record<string, unknown>> = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'odd', version: '1' },
  },
  'tools/list': { tools: [{ name: 'one', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'ran' }] },
};

export const resultFor = ({ id }: Pick<Asked, 'id'>, result: unknown) => ({
  ...{ jsonrpc: '2.0', id, result },
});

/** A server of 2025-06-18 by hand, each of whose answers may be any JSON; `log` has what it was asked. */
export async function startOddServer(
  answer: Answer,
  options: {
    readonly asStream?: boolean;
    readonly onGet?: (outgoing: ServerResponse) => void;
  } = {},
) {
  const log: string[] = [];
  const { origin, close } = await serveHttp((incoming, outgoing) => {
    respond(incoming, outgoing).catch(() => outgoing.destroy());
  });
  async function respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    if (incoming.method !== 'POST') {
      log.push(String(incoming.method));
      if (options.onGet) return options.onGet(outgoing);
      return void outgoing.writeHead(405).end();
    }
    const asked: Asked = JSON.parse(await text(incoming));
    log.push(asked.method);
    const error = { code: -32_601, message: 'Method not found' };
    const usual = Object.hasOwn(USUAL, asked.method)
      ? resultFor(asked, USUAL[asked.method])
      : { jsonrpc: '2.0', id: asked.id, error };
    const given = await answer(asked, outgoing, incoming);
    if (outgoing.writableEnded) return;
    if (asked.id === undefined) return void outgoing.writeHead(202).end();
    const json = JSON.stringify(given === undefined ? usual : given);
    if (options.asStream) {
      if (!outgoing.headersSent) outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      return void outgoing.end(`event: message\ndata: ${json}\n\n`);
    }
    if (!outgoing.headersSent) outgoing.writeHead(200, { 'content-type': 'application/json' });
    outgoing.end(json);
  }
  onTestFinished(close);
  return { url: `${origin}/mcp`, log };
}
