/**
 * The raw baseline: the least that the SDK takes to give back arguments, its low-level `Server` with
 * no schema; nothing is kept.
 */
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { serveMcp } from './serve-mcp.ts';

serveMcp(
  createMcpHandler(() => {
    const server = new Server({ name: 'echo', version: '1' }, { capabilities: { tools: {} } });
    const tool = { name: 'echo', description: 'Echoes', inputSchema: { type: 'object' as const } };
    server.setRequestHandler('tools/list', () => ({ tools: [tool] }));
    server.setRequestHandler('tools/call', ({ params }) => ({
      content: [{ type: 'text', text: JSON.stringify(params.arguments) }],
    }));
    return server;
  }),
);
