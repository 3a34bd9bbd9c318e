import type { WireMcpServer } from '../protocol/mcp-server.ts';
import type { Api } from './http-client.ts';

const PATH = '/v1/mcp-servers';

/** The MCP servers of the configuration; apart from the rest: the workbench loads without it. */
export const createMcpServersApi = (request: Api['request']) => ({
  list: () => request<{ servers: WireMcpServer[] }>({ method: 'GET', path: PATH }),
  reconnect: (id: string) => {
    const path = `${PATH}/${encodeURIComponent(id)}/reconnect`;
    return request<WireMcpServer>({ method: 'POST', path, body: {} });
  },
  /** By the hashes that the person saw. */
  accept: (id: string, tools: readonly string[]) => {
    const path = `${PATH}/${encodeURIComponent(id)}/accept`;
    return request<WireMcpServer>({ method: 'POST', path, body: { tools } });
  },
});
