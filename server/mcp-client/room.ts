export type { McpServersService } from './mcp-servers.ts';
export { McpServers, openMcpServers } from './mcp-servers.ts';
export {
  type ConfiguredMcpServers,
  mcpServersSchema,
  readMcpServers,
} from './mcp-servers-config.ts';
