export type { McpStream } from './agent-session.ts';
export { createMcpService, type McpService } from './create-mcp-service.ts';
export { mcpConfigSchema } from './mcp-config.ts';
