import type { WireMcpServer } from '../protocol/mcp-server.ts';
import type { ApiResult } from './api-result.ts';
import type { Api } from './http-client.ts';

/** The MCP servers of the configuration; apart from the rest: the workbench loads without it. */
export interface McpServersApi {
  list(): Promise<ApiResult<{ servers: WireMcpServer[] }>>;
  reconnect(id: string): Promise<ApiResult<WireMcpServer>>;
  /** By the hashes that the person saw. */
  accept(id: string, hashes: readonly string[]): Promise<ApiResult<WireMcpServer>>;
}

const PATH = '/v1/mcp-servers';

export const createMcpServersApi = (request: Api['request']): McpServersApi => ({
  list: () => request({ method: 'GET', path: PATH }),
  reconnect: (id) =>
    request({ method: 'POST', path: `${PATH}/${encodeURIComponent(id)}/reconnect`, body: {} }),
  accept: (id, tools) =>
    request({ method: 'POST', path: `${PATH}/${encodeURIComponent(id)}/accept`, body: { tools } }),
});
