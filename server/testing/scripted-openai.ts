import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { serveHttp } from '#lib/net/testing/serve-http';
import { chatEvents, responsesEvents, type ScriptedReply } from './scripted-openai-events.ts';
import { anthropicEvents, geminiEvents } from './scripted-other-events.ts';

/**
 * A TEST DOUBLE of an OpenAI-compatible server: real HTTP and real Server-Sent
 * Events for `POST /v1/chat/completions` and `POST /v1/responses`, for Anthropic's
 * `POST /v1/messages` and Gemini's `:streamGenerateContent`, with answers that a test
 * writes down. It is no model and no part of the product.
 *
 * ```ts
 * const openai = await createScriptedOpenAI({
 *   script: ({ index }) =>
 *     index === 0
 *       ? { calls: [{ name: 'weather_query', args: { place: 'Berlin' } }] }
 *       : { text: 'It is sunny.' },
 * });
 * // OPENAI_BASE_URL=openai.url … openai.requests[1].toolResults … await openai.close()
 * ```
 */
export interface ScriptedOpenAI {
  /** For `OPENAI_BASE_URL`; ends in `/v1`. */
  readonly url: string;
  /** The requests, in order. */
  readonly requests: readonly ScriptedRequest[];
  /** How often `GET /v1/models` was answered. */
  readonly timesListed: number;
  /** While it is down, each connection is reset before a byte is read. */
  setDown(isDown: boolean): void;
  /** Ends open streams too. */
  close(): Promise<void>;
}

export type ScriptedApi = 'chat' | 'responses' | 'anthropic' | 'gemini';

export interface ScriptedRequest {
  readonly api: ScriptedApi;
  /** 0 for the first request. */
  readonly index: number;
  /** The parsed body, as it came. */
  readonly body: Record<string, unknown>;
  /** The value of the header that this API has for it. */
  readonly authorization: string | undefined;
  readonly traceparent: string | undefined;
  /** Results of tools in the body, by the call's id, in order. A result that is no text is its JSON. */
  readonly toolResults: readonly { readonly id: string; readonly text: string }[];
  /** `data:` URLs of all pictures in the body, wherever they stand. */
  readonly images: readonly string[];
  readonly toolNames: readonly string[];
}

export type Script = (request: ScriptedRequest) => ScriptedReply;

export async function createScriptedOpenAI(options: {
  script: Script;
  /** What `GET /v1/models` lists: ids, or entries with what the server says of the model. */
  models?: readonly (string | { readonly id: string; readonly [fact: string]: unknown })[];
  /** What `POST /api/show` answers, by model; as Ollama does. Without it 404. */
  shows?: Readonly<Record<string, object>>;
}): Promise<ScriptedOpenAI> {
  const requests: ScriptedRequest[] = [];
  let timesListed = 0;
  let isDown = false;
  const { server, origin, close } = await serveHttp((request, response) => {
    // A client that goes away in mid-answer is part of what is tested.
    response.on('error', () => undefined);
    answer(request, response).catch((error) => response.destroy(error));
  });

  server.on('connection', (socket) => {
    if (isDown) socket.resetAndDestroy();
  });

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const path = (request.url ?? '').replace(/^\/v1/, '');
    if (request.method === 'GET' && path === '/models') {
      timesListed += 1;
      const data = (options.models ?? []).map((model) => ({
        ...(typeof model === 'string' ? { id: model } : model),
        object: 'model',
      }));
      return sendJson(response, 200, { object: 'list', data });
    }
    if (request.method === 'POST' && path === '/api/show') {
      const { model } = await bodyOf(request);
      const shown = options.shows?.[String(model)];
      return sendJson(response, shown ? 200 : 404, shown ?? { error: 'model not found' });
    }
    const api = apiOf(path);
    if (request.method !== 'POST' || !api) {
      return sendJson(response, 404, { error: { message: `no ${request.method} ${path}` } });
    }
    const asked = readRequest(api, requests.length, await bodyOf(request), request);
    requests.push(asked);
    return sendReply(response, asked, options.script(asked));
  };

  return {
    url: `${origin}/v1`,
    requests,
    get timesListed() {
      return timesListed;
    },
    setDown(down) {
      isDown = down;
      if (down) server.closeAllConnections();
    },
    close,
  };
}

function apiOf(path: string): ScriptedApi | undefined {
  if (path === '/chat/completions') return 'chat';
  if (path === '/responses') return 'responses';
  if (path === '/messages') return 'anthropic';
  return path.includes(':streamGenerateContent') ? 'gemini' : undefined;
}

/** For providers whose addresses are fixed: sends what is for any server to this one. */
export const fetchFrom =
  (url: string): typeof fetch =>
  (input, init) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input);
    return fetch(new URL(`${pathname}${search}`, url), init);
  };

async function sendReply(response: ServerResponse, asked: ScriptedRequest, reply: ScriptedReply) {
  if (reply.status !== undefined) {
    for (const [name, value] of Object.entries(reply.headers ?? {}))
      response.setHeader(name, value);
    if (reply.raw !== undefined) return void response.writeHead(reply.status).end(reply.raw);
    const { message = 'scripted error', code = null } = reply.error ?? {};
    return sendJson(response, reply.status, { error: { message, type: 'scripted', code } });
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', ...reply.headers });
  if (reply.raw !== undefined) return void response.end(reply.raw);
  response.flushHeaders();
  for (let sent = 0; sent < (reply.comments ?? 0); sent += 1) {
    await delay(reply.pieceMs);
    response.write(': loading\n\n');
  }
  let piece = 0;
  for (const event of eventsFor(asked, reply)) {
    if (response.destroyed) return;
    if (event.isPiece) {
      if (reply.cut?.after === piece) return cut(response, reply.cut.how);
      if (reply.stall?.at === piece) await reply.stall.until;
      if (reply.pieceMs) await delay(reply.pieceMs);
      piece += 1;
    }
    response.write(`${event.name ? `event: ${event.name}\n` : ''}data: ${event.data}\n\n`);
  }
  response.end();
}

function eventsFor({ api, body }: ScriptedRequest, reply: ScriptedReply) {
  const model = String(body.model);
  const [streamOptions] = objects([body.stream_options]);
  switch (api) {
    case 'chat':
      return chatEvents(reply, model, streamOptions?.include_usage === true);
    case 'responses':
      return responsesEvents(reply, model);
    case 'anthropic':
      return anthropicEvents(reply, model);
    case 'gemini':
      return geminiEvents(reply);
  }
}

/** Bytes that were written before still arrive; a comment shows that they have left. */
async function cut(response: ServerResponse, how: 'abrupt' | 'clean'): Promise<void> {
  await new Promise((resolve) => response.write(': cut\n\n', resolve));
  if (how === 'abrupt') response.destroy();
  else response.end();
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

function readRequest(
  api: ScriptedRequest['api'],
  index: number,
  body: Record<string, unknown>,
  request: IncomingMessage,
): ScriptedRequest {
  const items = itemsOf(api, body);
  const toolResults = items
    .filter(({ role, type }) => role === 'tool' || RESULTS.has(String(type)))
    .map((item) => ({
      id: String(item.tool_call_id ?? item.call_id ?? item.tool_use_id ?? item.name),
      text: textOf(item.content ?? item.output ?? item.response),
    }));
  const images = JSON.stringify(items).match(/data:image\/[a-z]+;base64,[A-Za-z0-9+/=]+/g) ?? [];
  const toolNames = toolsOf(body).map((tool) =>
    String(tool.name ?? objects([tool.function])[0]?.name),
  );
  const { authorization: bearer, 'x-api-key': key, 'x-goog-api-key': googleKey } = request.headers;
  const traceparent = [request.headers.traceparent].flat()[0];
  const authorization = bearer ?? [key, googleKey].flat().find((one) => one !== undefined);
  return { api, index, body, authorization, traceparent, toolResults, images, toolNames };
}

const RESULTS = new Set(['function_call_output', 'tool_result', 'functionResponse']);

/** The messages of a body, or the parts of which they consist. */
function itemsOf(api: ScriptedApi, body: Record<string, unknown>): Record<string, unknown>[] {
  switch (api) {
    case 'chat':
      return objects(body.messages);
    case 'responses':
      return objects(body.input);
    case 'anthropic':
      return objects(body.messages).flatMap(({ content }) => objects(content));
    case 'gemini':
      return objects(body.contents)
        .flatMap(({ parts }) => objects(parts))
        .map((part) => {
          const [response] = objects([part.functionResponse]);
          return response ? { ...response, type: 'functionResponse' } : part;
        });
  }
}

const toolsOf = (body: Record<string, unknown>): Record<string, unknown>[] =>
  objects(body.tools).flatMap((tool) =>
    Array.isArray(tool.functionDeclarations) ? objects(tool.functionDeclarations) : [tool],
  );

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

const objects = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : [];
