import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { isRecord } from '#lib/json/is-record';
import { HttpError } from '#lib/protocol/http-error';
import type { Agent } from '../../auth/room.ts';
import type { McpStream } from '../../doors/mcp/room.ts';
import { PROGRAMS } from '../../doors/room.ts';
import type { HttpDeps } from '../http-deps.ts';
import { createStreamPlaces, eventResponse } from '../open-responses.ts';
import { readJson } from '../read-body.ts';
import { type HttpResponse, json } from '../response.ts';
import { type RequestContext, type Route, routesOf } from '../route.ts';

const route = routesOf('mcp');

/** MCP over HTTP (docs/mcp.md): all that an agent's token may call, in both generations of the protocol. */
export function mcpRoutes(deps: HttpDeps): Route[] {
  const { mcp } = deps;
  // Streams of both generations count.
  const takePlace = createStreamPlaces('streams of MCP');
  return [
    route('POST', '/mcp', {
      id: 'sendMcp',
      summary:
        'A message of MCP (2026-07-28, or 2025-11-25 and older), for programs with a token of their own',
      access: PROGRAMS,
      responses: { 200: { description: 'JSON-RPC, or Server-Sent Events that end with it' } },
      handle: inSession(mcp, async ({ sessionId, principal, context }) => {
        const body = await readMessage(context);
        if (!body.ok) return body.refusal;
        if (Array.isArray(body.value)) return json(400, rpcError(JSON_RPC.invalid, ONE_MESSAGE));
        const lasts = isListen(body.value);
        if (lasts) takePlace(principal, context.outgoing);
        const { incoming, makeRoom, resizeRoom } = context;
        const answer = await mcp.answer({
          agent: principal,
          sessionId,
          makeRoom,
          resizeRoom,
          body: body.value,
          headers: incoming.headers,
          signal: context.signal(),
        });
        if (!(answer instanceof Response)) return json(200, answer.json);
        return toHttpResponse(answer, !lasts && takesJsonAlone(context.incoming));
      }),
    }),
    route('GET', '/mcp', {
      id: 'openMcpStream',
      summary: 'Notifications of MCP up to 2025-11-25, as Server-Sent Events',
      access: PROGRAMS,
      responses: { 200: { description: 'text/event-stream' } },
      handle: inSession(mcp, ({ principal, context: { incoming, outgoing } }) => {
        if (!/\btext\/event-stream\b/.test(incoming.headers.accept ?? '')) return onlyPost();
        takePlace(principal, outgoing);
        return eventResponse(deps, principal, () => mcp.openStream(principal, toStream(outgoing)));
      }),
    }),
    route('DELETE', '/mcp', {
      id: 'endMcp',
      summary: 'The end of a session of MCP up to 2025-11-25',
      access: PROGRAMS,
      responses: { 204: { description: 'It is over' } },
      handle: inSession(mcp, ({ principal, sessionId }) => {
        if (sessionId === undefined) return onlyPost();
        mcp.endSession(principal, sessionId);
        return { status: 204, body: '', headers: {} };
      }),
    }),
  ];
}

interface Entered {
  readonly principal: Agent;
  /** One of this agent's; undefined where the request names none. */
  readonly sessionId: string | undefined;
  readonly context: RequestContext;
}

/** Every request of MCP: by an agent, and in a session of its own if it names one. */
const inSession =
  (mcp: HttpDeps['mcp'], handle: (entered: Entered) => HttpResponse | Promise<HttpResponse>) =>
  ({ principal, context }: { principal: Agent; context: RequestContext }) => {
    const sessionId = sessionOf(context.incoming);
    if (sessionId !== undefined && !mcp.isSession(principal, sessionId)) return noSession();
    return handle({ sessionId, principal, context });
  };

/** A request of 2026-07-28 that is a stream for as long as its caller likes. */
const isListen = (body: unknown): boolean =>
  isRecord(body) && body.method === 'subscriptions/listen';

function sessionOf({ headers }: IncomingMessage): string | undefined {
  const header = headers['mcp-session-id'];
  return typeof header === 'string' && header !== '' ? header : undefined;
}

const JSON_RPC = { parse: -32_700, invalid: -32_600, noSession: -32_001, method: -32_000 } as const;

/** The room for an answer is that of one. */
const ONE_MESSAGE = 'Batches are not read: send one message in a request.';

const rpcError = (code: number, message: string) => ({
  jsonrpc: '2.0',
  id: null,
  error: { code, message },
});

const noSession = (): HttpResponse =>
  json(
    404,
    rpcError(JSON_RPC.noSession, 'Session not found. Send initialize without Mcp-Session-Id.'),
  );

const onlyPost = (): HttpResponse => ({
  status: 405,
  headers: { allow: 'POST' },
  json: rpcError(JSON_RPC.method, 'Method not allowed. Send messages by POST.'),
});

type Message = { ok: true; value: unknown } | { ok: false; refusal: HttpResponse };

/** A message that cannot be read is refused as JSON-RPC asks; one that is too large, as anywhere. */
async function readMessage(context: RequestContext): Promise<Message> {
  try {
    return { ok: true, value: (await readJson(context)).value };
  } catch (error) {
    if (!(error instanceof HttpError) || error.code !== 'bad_request') throw error;
    return { ok: false, refusal: json(400, rpcError(JSON_RPC.parse, error.message)) };
  }
}

/** It asked for no stream, so it gets the last message of one, which is the answer. */
const takesJsonAlone = ({ headers: { accept = '*/*' } }: IncomingMessage): boolean =>
  !/text\/event-stream|text\/\*|\*\/\*/.test(accept);

const DATA = 'data: ';

async function toHttpResponse(response: Response, isJson: boolean): Promise<HttpResponse> {
  const { status, body } = response;
  const headers = Object.fromEntries(response.headers);
  delete headers.connection;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  if (!body || !isStream) return { status, headers, body: await response.text() };
  if (isJson) {
    const lines = (await response.text()).split('\n').filter((line) => line.startsWith(DATA));
    const answer = lines.at(-1)?.slice(DATA.length) ?? '';
    return { status, headers: { ...headers, 'content-type': 'application/json' }, body: answer };
  }
  return {
    status,
    headers,
    stream(outgoing) {
      outgoing.flushHeaders();
      // A reader that leaves ends the source, and with it what was asked. It is Node's own stream,
      // under its type in browsers.
      pipeline(Readable.fromWeb(body as ReadableStream), outgoing, () => {});
    },
  };
}

/** A reader that has more of its notifications unread is cut. */
const MOST_UNREAD_BYTES = 64 * 1024;

const toStream = (outgoing: ServerResponse): McpStream => ({
  send(text) {
    outgoing.write(text);
    if (outgoing.writableLength > MOST_UNREAD_BYTES) outgoing.destroy();
  },
  // One that is not read never ends by itself.
  end: () => void (outgoing.writableLength > 0 ? outgoing.destroy() : outgoing.end()),
});
