import {
  Client as NewClient,
  StreamableHTTPClientTransport as NewTransport,
} from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { z } from 'zod';
import type { Callboard } from '../../start-callboard.ts';

/** The official clients, each as its users have it. */
export const MCP_CLIENTS = ['1.x', '2.x, as it is', '2.x, which asks for the newest'] as const;
export type McpClientKind = (typeof MCP_CLIENTS)[number];

const toolsSchema = z.object({
  tools: z.array(
    z.looseObject({
      name: z.string(),
      title: z.string().optional(),
      description: z.string(),
      inputSchema: z.record(z.string(), z.unknown()),
      annotations: z.record(z.string(), z.unknown()).optional(),
    }),
  ),
});

const blockSchema = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  data: z.string().optional(),
  mimeType: z.string().optional(),
  uri: z.string().optional(),
});

const resultSchema = z.looseObject({
  content: z.array(blockSchema),
  isError: z.boolean().optional(),
});
export type McpResult = z.infer<typeof resultSchema>;

interface CallOptions {
  onprogress?(progress: { progress: number; message?: string | undefined }): void;
  signal?: AbortSignal;
}

export interface McpClient {
  list(): Promise<z.infer<typeof toolsSchema>['tools']>;
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<McpResult>;
  read(uri: string): Promise<unknown>;
  readonly version: string | undefined;
  close(): Promise<void>;
}

/** Connects with the token of `board`; `onListChanged` after the server sent that its tools changed. */
export const connectMcp = (
  board: Callboard,
  kind: McpClientKind,
  onListChanged: () => void = () => {},
): Promise<McpClient> =>
  kind === '1.x' ? connectOld(board, onListChanged) : connectNew(board, kind, onListChanged);

const INFO = { name: 'test', version: '1' };

const changes = (onChanged: () => void) => ({
  tools: { onChanged, autoRefresh: false, debounceMs: 0 },
});

const addressOf = (board: Callboard) => new URL('/mcp', board.url);
const withToken = (board: Callboard) => ({
  requestInit: { headers: { authorization: `Bearer ${board.token}` } },
});

async function connectOld(board: Callboard, onListChanged: () => void): Promise<McpClient> {
  const client = new OldClient(INFO, { listChanged: changes(onListChanged) });
  const transport = new OldTransport(addressOf(board), withToken(board));
  await client.connect(transport);
  return {
    version: transport.protocolVersion,
    list: async () => toolsSchema.parse(await client.listTools()).tools,
    call: async (name, args = {}, options = {}) =>
      resultSchema.parse(await client.callTool({ name, arguments: args }, undefined, options)),
    read: (uri) => client.readResource({ uri }),
    close: () => client.close(),
  };
}

async function connectNew(
  board: Callboard,
  kind: McpClientKind,
  onListChanged: () => void,
): Promise<McpClient> {
  const newest = { versionNegotiation: { mode: 'auto' as const } };
  const client = new NewClient(INFO, {
    listChanged: changes(onListChanged),
    ...(kind === '2.x, as it is' ? {} : newest),
  });
  await client.connect(new NewTransport(addressOf(board), withToken(board)));
  return {
    version: client.getNegotiatedProtocolVersion(),
    list: async () =>
      toolsSchema.parse(await client.listTools(undefined, { cacheMode: 'refresh' })).tools,
    call: async (name, args = {}, options = {}) =>
      resultSchema.parse(await client.callTool({ name, arguments: args }, options)),
    read: (uri) => client.readResource({ uri }),
    close: () => client.close(),
  };
}
