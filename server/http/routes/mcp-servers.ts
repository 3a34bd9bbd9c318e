import {
  acceptMcpToolsBodySchema,
  mcpServerSchema,
  mcpServersAnswerSchema,
} from '#lib/protocol/mcp-server';
import { OPERATORS, VIEWERS } from '../../doors/room.ts';
import type { HttpDeps } from '../http-deps.ts';
import { type Route, routesOf } from '../route.ts';
import { askedBy } from './access.ts';

const path = '/v1/mcp-servers';
const route = routesOf('mcp');

/** The MCP servers whose tools are offered here; the configuration file alone names them. */
export const mcpServerRoutes = ({ mcpServers }: HttpDeps): Route[] => [
  route('GET', path, {
    id: 'listMcpServers',
    summary: 'MCP servers of the configuration: state, tools, changes that wait, last error',
    access: VIEWERS,
    answers: ['The servers', mcpServersAnswerSchema],
    handle: (asked) => ({ servers: mcpServers.list(askedBy(asked)) }),
  }),
  route('POST', `${path}/:id/reconnect`, {
    id: 'reconnectMcpServer',
    summary: 'Connect to an MCP server anew, at once. Calls that it runs are lost',
    access: OPERATORS,
    answers: ['The server after it', mcpServerSchema],
    handle: async (asked) => await mcpServers.reconnect(asked.params.id, askedBy(asked)),
  }),
  route('POST', `${path}/:id/accept`, {
    id: 'acceptMcpTools',
    summary: 'Accept changes of tools of an MCP server, by the hashes that were seen',
    access: OPERATORS,
    body: acceptMcpToolsBodySchema,
    answers: ['The server after it', mcpServerSchema],
    handle: async (asked) =>
      await mcpServers.accept(asked.params.id, asked.body.tools, askedBy(asked)),
  }),
];
