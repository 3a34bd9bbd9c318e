/**
 * The echo server as the SDK documents it: `McpServer.registerTool` with a zod schema; nothing is kept.
 */
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { serveMcp } from './serve-mcp.ts';

serveMcp(
  createMcpHandler(() => {
    const server = new McpServer({ name: 'echo', version: '1' });
    const inputSchema = z.object({ n: z.number(), text: z.string() });
    server.registerTool('echo', { description: 'Echoes', inputSchema }, async (args) => ({
      content: [{ type: 'text', text: JSON.stringify(args) }],
    }));
    return server;
  }),
);
