import type { z } from 'zod';
import { estimateJsonBytes } from '#lib/json/measure-json';
import type { HttpError } from '#lib/protocol/http-error';
import { LIMITS } from '#lib/protocol/limits';
import { chatCompletionBodySchema, responseBodySchema } from '#lib/protocol/openai-api';
import type { Caller } from '../../auth/room.ts';
import type { OpenAiAnswer, OpenAiService } from '../../doors/openai/room.ts';
import { AGENTS, type DoorRequest } from '../../doors/room.ts';
import { errorResponse, toHttpError } from '../error-response.ts';
import type { HttpDeps } from '../http-deps.ts';
import { createStreamPlaces, eventResponse, type TakePlace } from '../open-responses.ts';
import { checkShape, readJson } from '../read-body.ts';
import { type HttpResponse, json } from '../response.ts';
import { type RequestContext, type Route, routesOf } from '../route.ts';

const route = routesOf('openai');
/** A turn that failed may have called tools: programs send again what is answered with 5xx. */
const TURN_FAILED = 424;

/** The built-in agent for programs that speak the API of OpenAI (docs/openai-api.md). */
export function openAiRoutes(service: OpenAiService, deps: HttpDeps): Route[] {
  const answers = { ...deps, takePlace: createStreamPlaces('answers of the API of OpenAI') };
  return [
    route('POST', '/v1/chat/completions', {
      id: 'createChatCompletion',
      summary: 'A turn of the built-in agent as a chat completion of OpenAI, whole or streamed',
      access: AGENTS,
      docsBody: chatCompletionBodySchema,
      responses: { 200: { description: 'A chat completion, or text/event-stream of its chunks' } },
      handle: ({ principal, context }) =>
        answer(answers, { principal, context }, chatCompletionBodySchema, service.chat),
    }),
    route('POST', '/v1/responses', {
      id: 'createResponse',
      summary: 'A turn of the built-in agent as a response of OpenAI, whole or streamed',
      access: AGENTS,
      docsBody: responseBodySchema,
      responses: { 200: { description: 'A response, or text/event-stream of its events' } },
      handle: ({ principal, context }) =>
        answer(answers, { principal, context }, responseBodySchema, service.respond),
    }),
  ];
}

interface Asked {
  readonly principal: Caller;
  readonly context: RequestContext;
}

async function answer<Schema extends z.ZodType>(
  deps: HttpDeps & { readonly takePlace: TakePlace },
  { principal: caller, context }: Asked,
  schema: Schema,
  ask: (request: DoorRequest<z.output<Schema>>) => Promise<OpenAiAnswer>,
): Promise<HttpResponse> {
  try {
    deps.takePlace(caller, context.outgoing);
    const body = checkShape(schema, (await readJson(context, LIMITS.frameBytes)).value, 'body');
    const { address } = context;
    const made = await ask({ caller, address, body, signal: context.signal() });
    if ('stream' in made) return toStream(deps, caller, made.stream);
    if (!made.ok) return json(TURN_FAILED, errorOf(TURN_FAILED, made.error));
    await context.makeRoom(estimateJsonBytes([made.json]));
    return json(200, made.json);
  } catch (error) {
    return toError(toHttpError(error, deps.logger));
  }
}

function toStream(
  deps: HttpDeps,
  caller: Caller,
  begin: Extract<OpenAiAnswer, { stream: unknown }>['stream'],
): HttpResponse {
  return eventResponse(deps, caller, ({ send, end }) =>
    begin({ send: (data) => send(toEvent(data)), end }),
  );
}

function toEvent(data: object | '[DONE]'): string {
  if (data === '[DONE]') return `data: ${data}\n\n`;
  const name = 'type' in data ? `event: ${data.type}\n` : '';
  return `${name}data: ${JSON.stringify(data)}\n\n`;
}

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
};

/** Programs of OpenAI read this form; `code` and `message` are ours (contract, section 9). */
const errorOf = (status: number, { code, message }: { code: string; message: string }) => {
  const other = status === TURN_FAILED || status >= 500 ? 'server_error' : 'invalid_request_error';
  return { error: { message, type: TYPES[status] ?? other, param: null, code } };
};

const toError = (error: HttpError): HttpResponse => ({
  ...errorResponse(error),
  json: errorOf(error.status, error),
});
