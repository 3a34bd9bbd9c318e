import type { WireAuditPage } from '../protocol/audit.ts';
import type { AuditedActName } from '../protocol/audited-acts.ts';
import type { CreatedToken, NewTokenBody, TokensPage, WireToken } from '../protocol/token.ts';
import type { ApiResult } from './api-result.ts';
import type { Api } from './http-client.ts';

export interface AuditQuery {
  readonly actor?: string;
  readonly act?: AuditedActName;
  readonly cursor?: number;
  readonly limit?: number;
}

/** What administrators do, apart from the rest: the workbench loads without it. */
export interface AccessApi {
  /** A page of tokens, newest first, behind that of the first run. */
  listTokens(cursor?: string): Promise<ApiResult<TokensPage>>;
  createToken(body: NewTokenBody): Promise<ApiResult<CreatedToken>>;
  revokeToken(id: string): Promise<ApiResult<WireToken>>;
  /** A page of what people did, newest first. */
  listAudit(query: AuditQuery): Promise<ApiResult<WireAuditPage>>;
}

export const createAccessApi = (request: Api['request']): AccessApi => ({
  listTokens: (cursor) => request({ method: 'GET', path: `/v1/tokens${queryOf({ cursor })}` }),
  createToken: (body) => request({ method: 'POST', path: '/v1/tokens', body }),
  revokeToken: (id) => request({ method: 'DELETE', path: `/v1/tokens/${encodeURIComponent(id)}` }),
  listAudit: ({ actor, act, cursor, limit }) =>
    request({ method: 'GET', path: `/v1/audit${queryOf({ actor, act, cursor, limit })}` }),
});

/** With its `?`; empty without a value. */
function queryOf(values: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
