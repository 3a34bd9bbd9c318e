import type { z } from 'zod';
import { summaryOfCard } from '#lib/call/merge-card';
import { alwaysAllowedSchema, alwaysRuleSchema } from '#lib/protocol/always';
import { HttpError } from '#lib/protocol/http-error';
import { approvalsPageSchema, approvalsQuerySchema } from '#lib/protocol/rest';
import { given } from '#lib/util/given';
import type { AlwaysRule } from '../../approvals/room.ts';
import { isOwn } from '../../auth/room.ts';
import type { ShownCall } from '../../calls/room.ts';
import { OPERATORS, READERS, VIEWERS } from '../../doors/room.ts';
import type { HttpDeps } from '../http-deps.ts';
import { toSeconds } from '../response.ts';
import { type Route, routesOf } from '../route.ts';
import { quoted, writeDown } from './access.ts';

const route = routesOf('calls');

const path = '/v1/approvals/always';

export const approvalRoutes = ({ calls, ...deps }: HttpDeps): Route[] => [
  route('GET', '/v1/approvals', {
    id: 'listApprovals',
    summary: 'What waits for a decision, oldest first; calls that are the same are one entry',
    access: READERS,
    query: approvalsQuerySchema,
    answers: ['A page', approvalsPageSchema],
    handle: ({ principal, query }) => {
      const seen = calls.watched().filter((one) => isOwn(principal, one.ownerToken ?? null));
      return listApprovals(seen, query);
    },
  }),
  route('GET', path, {
    id: 'listAlwaysAllowed',
    summary: 'What operators allowed for good, oldest first; it holds over restarts',
    access: VIEWERS,
    answers: ['The rules', alwaysAllowedSchema],
    handle: () => ({ always: calls.always.list().map(toWireRule) }),
  }),
  route('DELETE', `${path}/:id`, {
    id: 'withdrawAlwaysAllowed',
    summary: 'Ask again before such calls',
    access: OPERATORS,
    answers: ['The rule that was withdrawn', alwaysRuleSchema],
    async handle(asked) {
      const { id } = asked.params;
      const rule = await calls.always.withdraw(id);
      if (rule) {
        const detail = { tool_name: rule.toolName, run_id: rule.runId, client_id: rule.clientId };
        await writeDown(deps, asked, { act: 'always_withdrawn', target: id, detail });
        return toWireRule(rule);
      }
      const message = `Nothing is always allowed as ${quoted(id)}; GET ${path} lists it.`;
      throw new HttpError('not_found', message);
    },
  }),
];

const toWireRule = ({ id, runId, toolName, clientId, scope, ...rule }: AlwaysRule) => ({
  id,
  run_id: runId,
  tool_name: toolName,
  client_id: clientId,
  scope,
  caller: rule.caller,
  bound: [...rule.bound.arguments],
  other_arguments: rule.bound.other_arguments,
  has_operands: rule.operands.length > 0,
  uses: rule.uses,
  used: rule.used,
  allowed_at: rule.allowedAt / 1_000,
  allowed_by: rule.allowedBy,
  expires_at: toSeconds(rule.expiresAt),
  last_used_at: toSeconds(rule.lastUsedAt),
});

type Page = z.infer<typeof approvalsPageSchema>;

interface Question {
  readonly call: ShownCall;
  equalCalls: number;
}

/** A page of the questions that wait among these calls, oldest first. The cursor is the place after the last one. */
function listApprovals(
  calls: readonly ShownCall[],
  { cursor, limit }: { cursor?: string | undefined; limit: number },
): Page {
  const after = cursor === undefined ? undefined : fromCursor(cursor);
  const rest = questionsOf(calls).filter(({ call }) => !after || isBehind(call, after));
  const shown = rest.slice(0, limit);
  const last = rest.length > limit ? shown.at(-1) : undefined;
  return {
    approvals: shown.map(toWire),
    next_cursor: last ? `${last.call.createdAt}:${last.call.id}` : null,
  };
}

function questionsOf(calls: readonly ShownCall[]): Question[] {
  const waiting = calls.filter(({ card }) => card.phase === 'approval');
  const questions = new Map<string, Question>();
  for (const call of waiting.toSorted((a, b) => (isBehind(a, b) ? 1 : -1))) {
    const key = call.card.approval_key ?? call.id;
    const known = questions.get(key);
    if (known) known.equalCalls += 1;
    else questions.set(key, { call, equalCalls: 1 });
  }
  return [...questions.values()];
}

type Place = Pick<ShownCall, 'createdAt' | 'id'>;

const isBehind = (one: Place, other: Place): boolean =>
  one.createdAt === other.createdAt ? one.id > other.id : one.createdAt > other.createdAt;

function fromCursor(cursor: string): Place {
  const end = cursor.indexOf(':');
  return { createdAt: Number(cursor.slice(0, end)), id: cursor.slice(end + 1) };
}

function toWire({ call, equalCalls }: Question): Page['approvals'][number] {
  const { id, runId, createdAt, requestedBy } = call;
  const card = summaryOfCard(call.card);
  return {
    tool_call_id: id,
    run_id: runId,
    tool_name: card.tool_name ?? '',
    display_name: card.display_name ?? null,
    client_id: card.client_id ?? card.always_rule?.client_id ?? null,
    client_name: card.client_name ?? null,
    args: card.params,
    ...given({ args_bytes: card.params_bytes ?? undefined, key: card.approval_key }),
    ...given({ requested_by: requestedBy, question: card.question }),
    reason: card.approval_reason ?? '',
    expires_at: card.clock?.deadline_at ?? 0,
    created_at: createdAt / 1_000,
    equal_calls: equalCalls,
  };
}
