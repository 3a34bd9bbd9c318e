import { auditPageSchema, auditQuerySchema, type WireAuditEntry } from '#lib/protocol/audit';
import { given } from '#lib/util/given';
import { ADMINS } from '../../doors/room.ts';
import type { AuditEntry } from '../../store/room.ts';
import type { HttpDeps } from '../http-deps.ts';
import { type Route, routesOf } from '../route.ts';

const route = routesOf('access');

export const auditRoute = ({ audit }: HttpDeps): Route =>
  route('GET', '/v1/audit', {
    id: 'listAudit',
    summary:
      'What people did, newest first: tokens, sign-ins, decisions on calls. By actor and act; no secrets are in it',
    access: ADMINS,
    query: auditQuerySchema,
    answers: ['A page of entries', auditPageSchema],
    async handle({ query: { actor, act, cursor, limit } }) {
      const { entries, next } = await audit.list({
        limit,
        ...given({ actor, act, before: cursor }),
      });
      return { entries: entries.map(toWireEntry), next_cursor: next };
    },
  });

const toWireEntry = ({ tokenId, at, ...entry }: AuditEntry): WireAuditEntry => ({
  ...entry,
  token_id: tokenId,
  at: at / 1_000,
});
