import type { WireAuditPage } from '../protocol/audit.ts';
import type { AuditedActName } from '../protocol/audited-acts.ts';
import type { CreatedToken, NewTokenBody, TokensPage, WireToken } from '../protocol/token.ts';
import type { Api } from './http-client.ts';

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
    request<WireToken>({ method: 'DELETE', path: `/v1/tokens/${encodeURIComponent(id)}` }),
  /** A page of what people did, newest first. */
  listAudit: ({ actor, act, cursor, limit }: AuditQuery) =>
    request<WireAuditPage>({
      method: 'GET',
      path: `/v1/audit${queryOf({ actor, act, cursor, limit })}`,
    }),
});

export type AccessApi = ReturnType<typeof createAccessApi>;

/** With its `?`; empty without a value. */
function queryOf(values: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
