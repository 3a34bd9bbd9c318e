import type { z } from 'zod';
import type { Call } from '#lib/call/call';
import { askingText } from '#lib/protocol/asking-client';
import { callRecordSchema } from '#lib/protocol/call-record';
import { HttpError } from '#lib/protocol/http-error';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { LIMITS } from '#lib/protocol/limits';
import { DEFAULT_MODEL } from '#lib/protocol/openai-api';
import {
  type InvokeAccepted,
  invokeAcceptedSchema,
  invokeBodySchema,
  modelsAnswerSchema,
  toolsAnswerSchema,
  toolsQuerySchema,
} from '#lib/protocol/rest';
import type { ModelListing } from '#lib/protocol/run';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { toolStatsSchema } from '#lib/protocol/tool-stats';
import { given } from '#lib/util/given';
import {
  byCaller,
  type Caller,
  type Operator,
  ownToken,
  type Principal,
  refusalOf,
} from '../../auth/room.ts';
import { AGENTS, READERS } from '../../doors/room.ts';
import { readTraceparent } from '../../telemetry/room.ts';
import type { HttpDeps } from '../http-deps.ts';
import { type HttpResponse, json } from '../response.ts';
import { type Route, routesOf } from '../route.ts';
import {
  IDEMPOTENCY_HEADERS,
  readIdempotencyKey,
  recordAnswer,
  toRefusal,
} from './call-answers.ts';

const route = routesOf('tools');
const runsRoute = routesOf('runs');

export const toolRoutes = (deps: HttpDeps): Route[] => [
  // The hot path: nothing here is done that the response does not need.
  route('POST', '/v1/tools/:name/invoke', {
    id: 'invokeTool',
    summary:
      'Call a tool. With wait_ms the response is held until the call is final; the header Idempotency-Key makes repeating it safe',
    access: AGENTS,
    headers: IDEMPOTENCY_HEADERS,
    body: invokeBodySchema,
    responses: {
      200: { description: 'The final record, with wait_ms', schema: callRecordSchema },
      202: { description: 'Recorded, and on its way', schema: invokeAcceptedSchema },
    },
    async handle({ principal, params, body, bodyBytes, context }) {
      const { args = {} } = body;
      checkArgsSize(args, bodyBytes);
      const idempotencyKey = readIdempotencyKey(context);
      // An agent's own calls are a program's decision already.
      const isForProgram = body.by === 'program' && principal.kind === 'operator';
      const caller: Principal = isForProgram
        ? { kind: 'run', runId: body.run_id, owner: principal }
        : principal;
      const outcome = await deps.calls.invoke({
        principal: caller,
        tool: deps.tools.nameOf(params.name),
        runId: body.run_id,
        args,
        ...given({
          clientId: body.client,
          fromClientId: askingText(body.client_id, body.instance_id),
          timeoutMs: body.timeout_ms,
          idempotencyKey,
          waitsForEnd: body.wait_ms ? true : undefined,
          traceparent: readTraceparent(context.incoming.headers.traceparent),
          together: isByHand(caller) ? auditing(deps.audit, caller, context.address) : undefined,
        }),
      });
      if (!outcome.ok) throw toRefusal(outcome);
      if (!body.wait_ms) return accepted(outcome.call.id);
      const call = await deps.calls.wait(outcome.call.id, body.wait_ms, context.signal());
      return call && isFinalStatus(call.status)
        ? recordAnswer(context, call)
        : accepted(outcome.call.id);
    },
  }),
  route('GET', '/v1/tools', {
    id: 'listCallableTools',
    summary: 'The tools that you may call now',
    access: READERS,
    query: toolsQuerySchema,
    answers: ['The tools', toolsAnswerSchema],
    handle: ({ principal, query }) => ({
      tools: named(deps.tools.list(principal), query).filter((one) => one.callable),
    }),
  }),
  route('GET', '/api/tools', {
    id: 'listTools',
    summary:
      'Every registered tool that you may know of, whether you may call it now, and why not; a program knows those of its allow-list',
    access: READERS,
    query: toolsQuerySchema,
    answers: ['The tools', toolsAnswerSchema],
    handle: ({ principal, query }) => ({
      tools: named(known(deps.tools.list(principal), principal), query),
    }),
  }),
  route('GET', '/v1/tools/stats', {
    id: 'toolStats',
    summary:
      'How tools did in the newest 5,000 ended calls that you may see: successes, failures by code, times, last errors',
    access: READERS,
    answers: ['The figures', toolStatsSchema],
    handle: async ({ principal }) => await deps.toolStats(ownToken(principal)),
  }),
  runsRoute('GET', '/v1/models', {
    id: 'listModels',
    summary: 'The models that a run may use',
    access: READERS,
    answers: ['The models', modelsAnswerSchema],
    handle: async () => modelsAnswer(await deps.runs.models(), deps.openAi !== undefined),
  }),
];

/** Programs of OpenAI read `data`, and find the server's default there under a name of its own. */
function modelsAnswer(
  models: ModelListing[],
  isOpenAi: boolean,
): z.infer<typeof modelsAnswerSchema> {
  if (!isOpenAi) return { models };
  const ids = [DEFAULT_MODEL, ...models.map(({ model }) => model)];
  const facts = { object: 'model', created: 0, owned_by: 'callboard' } as const;
  return { models, object: 'list', data: ids.map((id) => ({ id, ...facts })) };
}

/** A program is told of no tool that its allow-list does not hold, nor that there is one. */
const known = (tools: ToolListing[], caller: Caller): ToolListing[] =>
  caller.kind === 'agent'
    ? tools.filter(({ name }) => refusalOf(caller, name) === undefined)
    : tools;

const named = (tools: ToolListing[], { name }: { name?: string | undefined }): ToolListing[] =>
  name === undefined ? tools : tools.filter((tool) => tool.name === name);

/** At a page: programs call with a token, and their calls have it in their events (AU37). */
const isByHand = (principal: Principal): principal is Operator =>
  principal.kind === 'operator' && principal.sessionId !== null;

const auditing =
  (audit: HttpDeps['audit'], principal: Caller, address: string) =>
  ({ id, toolName }: Pick<Call, 'id' | 'toolName'>) => {
    const act = { act: 'tool_called', target: id, detail: { tool_name: toolName } } as const;
    return audit.entry(byCaller(principal, address, act));
  };

function accepted(id: string): HttpResponse {
  const answer: InvokeAccepted = {
    tool_call_id: id,
    status: 'pending',
    message: `The call is recorded. GET /v1/tool_calls/${id}?wait_ms=${LIMITS.waitMs} waits for its result.`,
  };
  return json(202, answer);
}

/** Measured only when the whole body is over the limit: the hot path does not pay for it. */
function checkArgsSize(args: unknown, bodyBytes: number): void {
  if (bodyBytes <= LIMITS.argsBytes) return;
  const bytes = Buffer.byteLength(JSON.stringify(args ?? null));
  if (bytes <= LIMITS.argsBytes) return;
  throw new HttpError(
    'too_large',
    `The arguments are ${bytes} bytes; a call accepts at most ${LIMITS.argsBytes}. Send large data by POST /v1/blobs.`,
  );
}
