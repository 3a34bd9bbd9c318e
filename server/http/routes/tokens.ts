import { HttpError } from '#lib/protocol/http-error';
import {
  createdTokenSchema,
  newTokenBodySchema,
  tokenSchema,
  tokensPageSchema,
  tokensQuerySchema,
  type WireToken,
} from '#lib/protocol/token';
import { given } from '#lib/util/given';
import { FIRST_OPERATOR, principalName } from '../../auth/room.ts';
import { ADMINS } from '../../doors/room.ts';
import type { TokenRecord } from '../../store/room.ts';
import type { HttpDeps } from '../http-deps.ts';
import { toSeconds } from '../response.ts';
import { type Route, routesOf } from '../route.ts';
import { quoted, writeDown } from './access.ts';

const path = '/v1/tokens';
const route = routesOf('access');

export const tokenRoutes = ({ tokens, ...deps }: HttpDeps): Route[] => [
  route('POST', path, {
    id: 'createToken',
    summary: 'A token for a person or a program. Its secret is in this response and nowhere else',
    access: ADMINS,
    body: newTokenBodySchema,
    answers: ['The token and its secret', createdTokenSchema, 201],
    async handle(asked) {
      const { principal, body: detail } = asked;
      const created = await tokens.create(detail, principalName(principal));
      await writeDown(deps, asked, { act: 'token_created', target: created.token.id, detail });
      return { ...toWireToken(created.token), secret: created.secret };
    },
  }),
  route('GET', path, {
    id: 'listTokens',
    summary: 'Tokens, newest first, behind that of the first run; revoked ones as well',
    access: ADMINS,
    query: tokensQuerySchema,
    answers: ['A page of tokens', tokensPageSchema],
    handle({ query: { cursor, limit } }) {
      const found = tokens.list({ limit: limit + 1, ...given({ before: cursor }) });
      const page = found.slice(0, limit);
      return {
        tokens: [...(cursor === undefined ? [FIRST_TOKEN] : []), ...page.map(toWireToken)],
        next_cursor: found.length > limit ? (page.at(-1)?.id ?? null) : null,
      };
    },
  }),
  route('DELETE', `${path}/:id`, {
    id: 'revokeToken',
    summary: 'Revoke a token for good. Its sockets and streams are closed, its sign-ins end',
    access: ADMINS,
    answers: ['The token that was revoked', tokenSchema],
    async handle(asked) {
      const { id } = asked.params;
      if (id === FIRST_TOKEN.id) throw new HttpError('conflict', NOT_HERE);
      const revoked = await tokens.revoke(id);
      if (revoked) {
        const { kind, name } = revoked;
        await writeDown(deps, asked, { act: 'token_revoked', target: id, detail: { kind, name } });
        return toWireToken(revoked);
      }
      const message = `There is no live token ${quoted(id)}; GET ${path} lists them.`;
      throw new HttpError('not_found', message);
    },
  }),
];

const NOT_HERE =
  'The token of the first run is not revoked here: set another CALLBOARD_TOKEN, or delete the file "token" in the data directory, and start the server again.';

const FIRST_TOKEN: WireToken = {
  id: 'first_run',
  kind: 'operator',
  name: FIRST_OPERATOR.name,
  role: FIRST_OPERATOR.role,
  tools: null,
  client_id: null,
  built_in: true,
  created_at: null,
  created_by: null,
  last_used_at: null,
  revoked_at: null,
};

const toWireToken = (token: TokenRecord): WireToken => ({
  id: token.id,
  kind: token.kind,
  name: token.name,
  role: token.role,
  tools: token.tools === null ? null : [...token.tools],
  client_id: token.clientId,
  built_in: false,
  created_at: token.createdAt / 1_000,
  created_by: token.createdBy,
  last_used_at: toSeconds(token.lastUsedAt),
  revoked_at: toSeconds(token.revokedAt),
});
