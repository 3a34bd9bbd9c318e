import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import { z } from 'zod';
import type { Agent } from '../../../auth/principal.ts';
import { type SetupOptions, setupCalls } from '../../../calls/testing/setup-calls.ts';
import { traceTo } from '../../../telemetry/testing/start-traces.ts';
import { createMcpService } from '../create-mcp-service.ts';
import { mcpConfigSchema } from '../mcp-config.ts';

export const AGENT: Agent = {
  kind: 'agent',
  name: 'coder',
  tokenId: 'tok_1',
  tools: ['echo', 'hold'],
};
export const OTHER: Agent = { ...AGENT, name: 'other', tokenId: 'tok_2' };
export const ECHO = {
  name: 'echo',
  description: 'Echoes',
  parameters: { type: 'object' },
  timeout_ms: 600_000,
};

const messageSchema = z.object({
  id: z.union([z.number(), z.string()]).optional(),
  method: z.string().optional(),
  params: z.looseObject({ progress: z.number(), message: z.string() }).optional(),
  result: z
    .looseObject({ content: z.array(z.looseObject({ text: z.string().optional() })).default([]) })
    .optional(),
});

const newestSchema = z.looseObject({
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.looseObject({ code: z.number(), message: z.string() }).optional(),
});

export interface McpOptions {
  readonly key?: string;
  /** `mcp` in the configuration file. */
  readonly mcp?: object;
  readonly publicUrl?: string | undefined;
  readonly calls?: SetupOptions;
  /** A receiver of spans, where there is one. */
  readonly traces?: Parameters<typeof traceTo>[0];
  readonly makeRoom?: (bytes: number) => Promise<void>;
  readonly resizeRoom?: (bytes: number) => void;
}

interface Sending {
  readonly agent?: Agent;
  readonly sessionId?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

interface Calling extends Sending {
  readonly id?: number | string;
  readonly args?: object;
  readonly meta?: object;
}

/** The MCP service on real calls, with one client that offers `echo`; only time is the test's. */
export async function setupMcp({
  key = 'key',
  mcp: config = {},
  publicUrl,
  calls: options = {},
  traces,
  makeRoom = async () => {},
  resizeRoom = () => {},
}: McpOptions = {}) {
  const world = await setupCalls({ isTracing: traces !== undefined, ...options });
  const spans = traces && traceTo(traces, world.clock);
  if (spans) world.calls.onDurable(spans.tracing.observe);
  const mcp = createMcpService({
    ...world,
    history: world.store.history,
    blobs: { find: async () => undefined, read: async () => undefined },
    sources: {
      blobs: { read: async () => undefined },
      scale: async () => ({ ok: false, code: 'unavailable', message: '' }),
    },
    ...{ key, config: mcpConfigSchema.parse(config), publicUrl, keepDays: undefined },
    closing: new AbortController().signal,
    spans: spans?.tracing ?? { isOn: false, add() {} },
  });
  async function answer(request: Request, body: unknown, sending: Sending = {}) {
    const { agent = AGENT, sessionId } = sending;
    const { signal } = request;
    const headers = Object.fromEntries(request.headers);
    const post = { agent, headers, signal, body, sessionId, makeRoom, resizeRoom };
    const given = await mcp.answer(post);
    return given instanceof Response ? given : Response.json(given.json);
  }
  /** A message of 2025-11-25; gives the messages of the answer. */
  async function send(body: object, { signal, headers, ...more }: Sending = {}) {
    const request = new Request('http://callboard/mcp', {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        'mcp-protocol-version': '2025-11-25',
        ...headers,
      },
      ...(signal && { signal }),
    });
    const text = await (await answer(request, { jsonrpc: '2.0', ...body }, more)).text();
    return text
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => messageSchema.parse(JSON.parse(line.slice(6))));
  }
  const call = (name: string, { id = 1, args = {}, meta = {}, ...more }: Calling = {}) =>
    send({ id, method: 'tools/call', params: { name, arguments: args, _meta: meta } }, more);
  /** A request of 2026-07-28, as a client without a library sends it. */
  async function sendNewest(
    method: string,
    name: string,
    params: object,
    capabilities: object = {},
  ) {
    const request = new Request('http://callboard/mcp', {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, 'mcp-name': name },
      },
    });
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': capabilities,
    };
    const body = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } };
    const response = await answer(request, body);
    return newestSchema.parse(await response.json());
  }
  /** The official client of the newest revision, without a network between. */
  async function official(
    capabilities: object = {},
    onElicit?: () => { action: 'accept' | 'decline' | 'cancel' },
  ) {
    const client = new Client(
      { name: 'test', version: '1' },
      { capabilities, versionNegotiation: { mode: 'auto' } },
    );
    if (onElicit) client.setRequestHandler('elicitation/create', onElicit);
    const fetch = async (url: string | URL, init: RequestInit = {}) => {
      const request = new Request(url, init);
      if (request.method !== 'POST') return new Response(null, { status: 405 });
      return answer(request, await request.clone().json());
    };
    await client.connect(
      new StreamableHTTPClientTransport(new URL('http://callboard/mcp'), { fetch }),
    );
    return client;
  }
  const client = world.connect('phone');
  client.offer(ECHO);
  const asked = (count = 1) =>
    expect
      .poll(() => client.requests().length)
      .toBe(count)
      .then(() => client.requests()[count - 1]);
  return {
    ...world,
    sent: spans?.sent,
    mcp,
    answer,
    send,
    sendNewest,
    call,
    official,
    client,
    asked,
  };
}

export const textOf = (messages: readonly z.infer<typeof messageSchema>[]): string =>
  messages.at(-1)?.result?.content[0]?.text ?? '';
