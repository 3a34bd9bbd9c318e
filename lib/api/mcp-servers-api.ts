import type { WireMcpServer } from '../protocol/mcp-server.ts';
import type { Api } from './http-client.ts';
import { pathOf } from './send-request.ts';

/** The MCP servers of the configuration; apart from the rest: the workbench loads without it. */
export const createMcpServersApi = (request: Api['request']) => ({
  list: () => request<{ servers: WireMcpServer[] }>({ method: 'GET', path: '/v1/mcp-servers' }),
  reconnect: (id: string) => {
    const path = pathOf`/v1/mcp-servers/${id}/reconnect`;
    return request<WireMcpServer>({ method: 'POST', path, body: {} });
  },
  /** By the hashes that the person saw. */
  accept: (id: string, tools: readonly string[]) => {
    const path = pathOf`/v1/mcp-servers/${id}/accept`;
    return request<WireMcpServer>({ method: 'POST', path, body: { tools } });
  },
});
