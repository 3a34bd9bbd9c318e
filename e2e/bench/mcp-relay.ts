/**
 * A relay as the SDK of MCP documents its parts: an `McpServer` whose tool asks another server by
 * `Client.callTool`, both by Streamable HTTP. Nothing is kept. Its argument is the other's port.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { serveMcp } from './serve-mcp.ts';

const client = new Client(
  { name: 'relay', version: '1' },
  { versionNegotiation: { mode: 'auto' } },
);
await client.connect(
  new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${process.argv[2]}/mcp`)),
);

serveMcp(
  createMcpHandler(() => {
    const server = new McpServer({ name: 'relay', version: '1' });
    const inputSchema = z.object({ n: z.number(), text: z.string() });
    for (const name of ['echo', 'large']) {
      server.registerTool(name, { description: 'Relays', inputSchema }, async (args) => {
        const { content } = await client.callTool({ name, arguments: args });
        return { content };
      });
    }
    return server;
  }),
);
