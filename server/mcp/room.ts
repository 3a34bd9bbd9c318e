export { createMcpService } from './create-mcp-service.ts';
export { mcpConfigSchema } from './mcp-config.ts';
export type { McpService, McpStream } from './mcp-service.ts';
