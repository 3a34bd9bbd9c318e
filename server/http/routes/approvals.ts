import { HttpError } from '#lib/protocol/http-error';
import {
  alwaysAllowedSchema,
  alwaysRuleSchema,
  approvalsPageSchema,
  approvalsQuerySchema,
} from '#lib/protocol/rest';
import { byCaller } from '../../auth/audit.ts';
import type { AlwaysRule } from '../../calls/call-service.ts';
import type { HttpDeps } from '../http-deps.ts';
import { json } from '../response.ts';
import { defineRoute, type Route } from '../route.ts';
import { isOwn, OPERATORS, READERS, VIEWERS } from './access.ts';
import { listApprovals } from './list-approvals.ts';

type Deps = Pick<HttpDeps, 'calls' | 'audit'>;

const path = '/v1/approvals/always';

export const approvalRoutes = ({ calls, audit }: Deps): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/v1/approvals',
    id: 'listApprovals',
    tag: 'calls',
    summary: 'What waits for a decision, oldest first; calls that are the same are one entry',
    access: READERS,
    query: approvalsQuerySchema,
    responses: { 200: { description: 'A page', schema: approvalsPageSchema } },
    handle: ({ principal, query }) => {
      const seen = calls.watched().filter((one) => isOwn(principal, one.ownerToken ?? null));
      return json(200, listApprovals(seen, query));
    },
  }),
  defineRoute({
    method: 'GET',
    path,
    id: 'listAlwaysAllowed',
    tag: 'calls',
    summary: 'What operators allowed for good, oldest first; it holds over restarts',
    access: VIEWERS,
    responses: { 200: { description: 'The rules', schema: alwaysAllowedSchema } },
    handle: () => json(200, { always: calls.always.list().map(toWireRule) }),
  }),
  defineRoute({
    method: 'DELETE',
    path: `${path}/:id`,
    id: 'withdrawAlwaysAllowed',
    tag: 'calls',
    summary: 'Ask again before such calls',
    access: OPERATORS,
    responses: { 200: { description: 'The rule that was withdrawn', schema: alwaysRuleSchema } },
    async handle({ principal, params, context: { address } }) {
      const rule = await calls.always.withdraw(params.id);
      if (rule) {
        const by = byCaller(principal, address);
        const detail = { tool_name: rule.toolName, run_id: rule.runId, client_id: rule.clientId };
        await audit.record({ ...by, act: 'always_withdrawn', target: rule.id, detail });
        return json(200, toWireRule(rule));
      }
      const id = JSON.stringify(params.id.slice(0, 128));
      throw new HttpError('not_found', `Nothing is always allowed as ${id}; GET ${path} lists it.`);
    },
  }),
];

const toWireRule = ({ id, runId, toolName, clientId, scope, ...rule }: AlwaysRule) => ({
  ...{ id, run_id: runId, tool_name: toolName, client_id: clientId, scope, caller: rule.caller },
  ...{ allowed_at: rule.allowedAt / 1_000, allowed_by: rule.allowedBy },
  expires_at: toSeconds(rule.expiresAt),
  last_used_at: toSeconds(rule.lastUsedAt),
});

const toSeconds = (ms: number | null): number | null => (ms === null ? null : ms / 1_000);
