export type { McpStream } from './agent-session.ts';
export { type McpService, serveMcp } from './create-mcp-service.ts';
export { mcpConfigSchema } from './mcp-config.ts';
