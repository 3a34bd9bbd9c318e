export { type McpServersService, serveMcpServers } from './mcp-servers.ts';
export { mcpServersSchema, readMcpServers } from './mcp-servers-config.ts';
