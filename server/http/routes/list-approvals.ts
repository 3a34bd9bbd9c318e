import type { z } from 'zod';
import { summaryOfCard } from '#lib/call/bound-card';
import type { approvalsPageSchema } from '#lib/protocol/rest';
import { given } from '#lib/util/given';
import type { ShownCall } from '../../calls/call-service.ts';

type Page = z.infer<typeof approvalsPageSchema>;

interface Question {
  readonly call: ShownCall;
  equalCalls: number;
}

/** A page of the questions that wait among these calls, oldest first. The cursor is the place after the last one. */
export function listApprovals(
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
