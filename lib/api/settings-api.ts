import type { WireAuditPage } from '../protocol/audit.ts';
import type { AuditedActName } from '../protocol/audited-acts.ts';
import type { WireMcpServer } from '../protocol/mcp-server.ts';
import type { WireDeliveries, WireDelivery, WireTarget, WireTargets } from '../protocol/notify.ts';
import type { CreatedToken, NewTokenBody, TokensPage, WireToken } from '../protocol/token.ts';
import type { Api } from './http-client.ts';
import { pathOf, queryOf } from './send-request.ts';

export interface AuditQuery {
  readonly actor?: string;
  readonly act?: AuditedActName;
  readonly cursor?: number;
  readonly limit?: number;
}

/** Administrators do these, apart from the rest: the workbench loads without it. */
export const createAccessApi = (request: Api['request']) => ({
  /** A page of tokens, newest first, behind that of the first run. */
  listTokens: (cursor?: string) =>
    request<TokensPage>({ method: 'GET', path: `/v1/tokens${queryOf({ cursor })}` }),
  createToken: (body: NewTokenBody) =>
    request<CreatedToken>({ method: 'POST', path: '/v1/tokens', body }),
  revokeToken: (id: string) =>
    request<WireToken>({ method: 'DELETE', path: pathOf`/v1/tokens/${id}` }),
  /** A page of what people did, newest first. */
  listAudit: (query: AuditQuery) =>
    request<WireAuditPage>({ method: 'GET', path: `/v1/audit${queryOf({ ...query })}` }),
});

export type AccessApi = ReturnType<typeof createAccessApi>;

/** Notifications that leave the server, apart from the rest: the workbench loads without it. */
export const createNotifyApi = (request: Api['request']) => ({
  listTargets: () => request<WireTargets>({ method: 'GET', path: '/v1/notify/targets' }),
  /** Newest first. */
  listDeliveries: (cursor?: string) =>
    request<WireDeliveries>({
      method: 'GET',
      path: `/v1/notify/deliveries${queryOf({ cursor })}`,
    }),
  resend: (id: string) =>
    request<WireDelivery>({ method: 'POST', path: pathOf`/v1/notify/deliveries/${id}/resend` }),
  test: (id: string) =>
    request<WireDelivery>({ method: 'POST', path: pathOf`/v1/notify/targets/${id}/test` }),
  enable: (id: string) =>
    request<WireTarget>({ method: 'POST', path: pathOf`/v1/notify/targets/${id}/enable` }),
});

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
