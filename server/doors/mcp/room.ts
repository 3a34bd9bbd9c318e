export { type McpService, serveMcp } from './create-mcp-service.ts';
export { mcpConfigSchema } from './mcp-config.ts';
export type { McpStream } from './mcp-service.ts';
