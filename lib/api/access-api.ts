import type { WireAuditPage } from '../protocol/audit.ts';
import type { AuditedActName } from '../protocol/audited-acts.ts';
import type { CreatedToken, NewTokenBody, TokensPage, WireToken } from '../protocol/token.ts';
import type { Api } from './http-client.ts';
import { pathOf, queryOf } from './send-request.ts';

export interface AuditQuery {
  readonly actor?: string;
  readonly act?: AuditedActName;
  readonly cursor?: number;
  readonly limit?: number;
}

/** What administrators do, apart from the rest: the workbench loads without it. */
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
