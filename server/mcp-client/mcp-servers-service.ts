import type { WireMcpServer } from '#lib/protocol/mcp-server';
import type { By } from '../devices/room.ts';

/** The MCP servers whose tools are offered here. What is refused is thrown as `HttpError`. */
export interface McpServersService {
  list(by: By): WireMcpServer[];
  /** Connects anew, at once; what runs at the server is lost. */
  reconnect(id: string, by: By): Promise<WireMcpServer>;
  /** Takes over what the server changed, by the hashes that the person saw. */
  accept(id: string, hashes: readonly string[], by: By): Promise<WireMcpServer>;
}
