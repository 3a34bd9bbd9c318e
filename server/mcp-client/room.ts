export { McpServers } from './mcp-servers.ts';
export { mcpServersSchema } from './mcp-servers-config.ts';
export type { McpServersService } from './mcp-servers-service.ts';
export { openMcpServers } from './open-mcp-servers.ts';
export { type ConfiguredMcpServers, readMcpServers } from './read-mcp-servers.ts';
