import { createHash } from 'node:crypto';
import type { CallActionOutcome } from '#lib/call/call-outcome';
import { MODEL_OUTPUT_VERSION, outputOfRecord } from '#lib/call/model-output';
import { toRecord } from '#lib/call/view';
import { cutJson } from '#lib/json/cut-json';
import { askingText } from '#lib/protocol/asking-client';
import { callRecordSchema, type WireCallRecord } from '#lib/protocol/call-record';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import {
  type ModelOutputRecord,
  type ModelTurn,
  modelOutputSchema,
} from '#lib/protocol/model-turn';
import {
  answerBodySchema,
  approvalBodySchema,
  callEventsPageSchema,
  callEventsQuerySchema,
  callsPageSchema,
  callsQuerySchema,
  extendBodySchema,
  retryBodySchema,
  waitQuerySchema,
} from '#lib/protocol/rest';
import { given } from '#lib/util/given';
import { ownToken } from '../../auth/room.ts';
import { AGENTS, cancelCall, OPERATORS, READERS } from '../../doors/room.ts';
import type { HttpDeps } from '../http-deps.ts';
import { type Route, routesOf } from '../route.ts';
import { createListPage, PAGE_BYTES, toWireEvent } from '../to-wire-call.ts';
import { type Act, findCall, writeDown } from './access.ts';
import {
  IDEMPOTENCY_HEADERS,
  readIdempotencyKey,
  recordAnswer,
  toRefusal,
} from './call-answers.ts';

const route = routesOf('calls');

/** A result is sent again only in another form: more of these no run has. */
const MOST_SENT = 20;

function sentOf(turn: ModelTurn, callId: string): ModelOutputRecord['sent'] {
  const { number, step, attempt, model, started_at, rendering } = turn;
  const facts = { number, turn: turn.turn, step, attempt, model, started_at, rendering };
  return turn.sent.flatMap(({ tool_call_id, ...part }) =>
    tool_call_id === callId ? [{ ...facts, ...part }] : [],
  );
}

/** A binding in the audit is cut to so many bytes. */
const AUDITED_BYTES = 1_000;

const record = ['The record', callRecordSchema] as const;

export const toolCallRoutes = (deps: HttpDeps): Route[] => [
  route('GET', '/v1/tool_calls/:id', {
    id: 'getToolCall',
    summary: 'One call. With wait_ms the response is held until the call is final',
    access: READERS,
    query: waitQuerySchema,
    responses: { 200: { description: record[0], schema: record[1] } },
    async handle({ principal, params, query, context }) {
      const found = await findCall(deps, principal, params.id, context);
      if (!query.wait_ms || isFinalStatus(found.status)) return recordAnswer(context, found);
      const waited = await deps.calls.wait(params.id, query.wait_ms, context.signal());
      return recordAnswer(context, waited ?? found);
    },
  }),
  route('GET', '/v1/tool_calls', {
    id: 'listToolCalls',
    summary:
      'Calls, newest first, by page and filter; client is an id or a name; q searches the names of tool and client, arguments, results and errors for at most 8 words. A page may hold fewer calls than limit, or none: next_cursor is null on the last one. Values over 16 KiB are previews unless include names them; a page ends at 4 MiB',
    access: READERS,
    query: callsQuerySchema,
    answers: ['A page of records', callsPageSchema],
    async handle({ principal, query, context }) {
      const { include = [] } = query;
      // To be cut for a page of previews, values are read whole as well.
      await context.makeRoom(PAGE_BYTES);
      const page = createListPage(include);
      const { nextCursor } = await deps.calls.list({
        limit: query.limit,
        takes: page.takes,
        ...given({
          runId: query.run_id,
          status: query.status,
          tool: query.tool,
          client: query.client,
          ownerToken: ownToken(principal),
          text: query.q,
          cursor: query.cursor,
        }),
      });
      context.resizeRoom(page.bytesRead);
      return { tool_calls: page.calls, next_cursor: nextCursor };
    },
  }),
  route('GET', '/v1/tool_calls/:id/events', {
    id: 'listToolCallEvents',
    summary:
      'What happened to a call, in order, with actor and time; the updates up to a version merge to the card that was shown then. A page may hold fewer events than limit: next_after is null on the last one',
    access: READERS,
    query: callEventsQuerySchema,
    answers: ['A page of events', callEventsPageSchema],
    async handle({ principal, params, query, context }) {
      const call = await findCall(deps, principal, params.id, context);
      const { after = 0, limit } = query;
      const events = await deps.calls.events(call.id, { after, limit });
      const last = events.at(-1)?.version;
      const isMore = last !== undefined && last < call.version;
      const isForPeople = principal.kind === 'operator';
      const wire = events.map((event) => toWireEvent(event, isForPeople));
      return { events: wire, next_after: isMore ? last : null };
    },
  }),
  route('GET', '/v1/tool_calls/:id/model_output', {
    id: 'getModelOutput',
    summary:
      'What a model is sent of a call, and the requests that had it: where their sha256 is that of the text, it is what the model got',
    access: READERS,
    answers: ['The text and its requests', modelOutputSchema],
    async handle({ principal, params, context }) {
      const call = await findCall(deps, principal, params.id, context);
      const page = await deps.runs.modelTurns({
        runId: call.runId,
        toolCallId: call.id,
        after: 0,
        limit: MOST_SENT,
      });
      const sent = (page?.turns ?? []).flatMap((turn) => sentOf(turn, call.id));
      // The bound of the last sending counts, whatever it is by now.
      const limit = sent.at(-1)?.limit ?? deps.runs.resultBytes;
      const { text, cut, images } = outputOfRecord(call, limit);
      const output: ModelOutputRecord = {
        tool_call_id: call.id,
        status: call.status,
        text,
        sha256: createHash('sha256').update(text).digest('hex'),
        bytes: Buffer.byteLength(text),
        cut,
        images: images.map(({ blob_id }) => blob_id),
        rendering: MODEL_OUTPUT_VERSION,
        sent,
      };
      return output;
    },
  }),
  route('POST', '/v1/tool_calls/:id/cancel', {
    id: 'cancelToolCall',
    summary: 'Stop a call. The client that runs it receives tool_call_cancel',
    access: AGENTS,
    answers: record,
    async handle({ principal, params, context }) {
      const { phase } = await findCall(deps, principal, params.id, context);
      const outcome = await cancelCall(deps, principal, params.id);
      // Asked twice: the first request stands.
      if (phase === 'cancelling') return done(outcome);
      return audited(deps, outcome, { principal, context, act: 'call_cancelled' });
    },
  }),
  route('POST', '/v1/tool_calls/:id/retry', {
    id: 'retryToolCall',
    summary:
      'Call again after a call has ended, with the same arguments or new ones; the header Idempotency-Key makes repeating it safe',
    access: AGENTS,
    headers: IDEMPOTENCY_HEADERS,
    body: retryBodySchema,
    answers: ["The new call's record", callRecordSchema],
    async handle({ principal, params, body, context }) {
      await findCall(deps, principal, params.id, context);
      const { args, client: clientId, client_id, instance_id } = body;
      const fromClientId = askingText(client_id, instance_id);
      const idempotencyKey = readIdempotencyKey(context);
      const more = given({ args, clientId, fromClientId, idempotencyKey });
      const outcome = await deps.calls.retry(params.id, principal, more);
      const detail = { retry_of: params.id, edited: args !== undefined };
      return audited(deps, outcome, { principal, context, act: 'call_retried', detail });
    },
  }),
  route('POST', '/v1/tool_calls/:id/extend', {
    id: 'extendToolCall',
    summary: 'Give a running call more time',
    access: OPERATORS,
    body: extendBodySchema,
    answers: record,
    async handle({ principal, params, body, context }) {
      await findCall(deps, principal, params.id, context);
      const outcome = await deps.calls.extend(params.id, principal, body.by_ms);
      const detail = { by_ms: body.by_ms };
      return audited(deps, outcome, { principal, context, act: 'extended', detail });
    },
  }),
  route('POST', '/v1/tool_calls/:id/approval', {
    id: 'decideApproval',
    summary: 'Decide on a call that waits for approval; always: allow it and do not ask again',
    access: OPERATORS,
    body: approvalBodySchema,
    answers: record,
    async handle({ principal, params, body, context }) {
      const { decision, note, args, expires_at: expiresAt, calls, scope, expires_in, uses } = body;
      const { bound = [], other_arguments = 'any' } = body;
      const always = given({
        scope,
        forMs: expires_in === undefined ? undefined : expires_in * 1_000,
        bound: { arguments: bound, other_arguments },
        uses,
      });
      const more = given({ note, args, expiresAt, calls, always });
      const outcome = await deps.calls.decide(params.id, principal, { decision, ...more });
      // Arguments and notes are in the call; here they would outlive it.
      const terms = decision === 'always' ? given({ scope, expires_in, uses }) : {};
      const rule = decision === 'always' && {
        ...(outcome.ok && given({ rule: outcome.ruleId })),
        // A rule has no secret; its list has the whole of it as long as it holds.
        ...(bound.length > 0 && { bound: cutJson(bound, AUDITED_BYTES), other_arguments }),
      };
      const detail = { decision, edited: args !== undefined, ...terms, ...rule };
      return audited(deps, outcome, { principal, context, act: 'approval_decided', detail });
    },
  }),
  route('POST', '/v1/tool_calls/:id/answer', {
    id: 'answerToolCall',
    summary: "Answer a call by hand, in the tool's place",
    access: OPERATORS,
    body: answerBodySchema,
    answers: record,
    async handle({ principal, params, body, context }) {
      const outcome = await deps.calls.answer(params.id, principal, body.output);
      return audited(deps, outcome, { principal, context, act: 'answered_by_hand' });
    },
  }),
];

/** Writes down what a person did and took effect, with the tool of the call. */
async function audited(
  deps: HttpDeps,
  outcome: CallActionOutcome,
  { act, detail = {}, ...asked }: Act,
): Promise<WireCallRecord> {
  if (outcome.ok && !outcome.isRepeat && asked.principal.kind === 'operator') {
    const { id: target, toolName: tool_name } = outcome.call;
    await writeDown(deps, asked, { act, target, detail: { tool_name, ...detail } });
  }
  return done(outcome);
}

function done(outcome: CallActionOutcome): WireCallRecord {
  if (outcome.ok) return toRecord(outcome.call);
  throw toRefusal(outcome);
}
