import type { IncomingMessage } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { HttpError } from '#lib/protocol/http-error';
import { followCaller } from '../../auth/follow-caller.ts';
import type { Agent, Caller } from '../../auth/principal.ts';
import { createCountOfEach } from '../count-of-each.ts';
import { EVENT_STREAM } from '../event-writer.ts';
import type { HttpDeps } from '../http-deps.ts';
import { readJson } from '../read-json.ts';
import { type HttpResponse, json } from '../response.ts';
import { defineRoute, type RequestContext, type Route } from '../route.ts';
import { takePlace } from '../take-place.ts';
import { AGENTS } from './access.ts';

type Deps = Pick<HttpDeps, 'mcp' | 'tokens' | 'sessions'>;

const tag = 'mcp';
const MOST_STREAMS = 64;
const TOO_MANY = `${MOST_STREAMS} streams of MCP are open with this token. Close one first.`;

/** MCP over HTTP (docs/mcp.md): all that an agent's token may call, in both generations of the protocol. */
export const mcpRoutes = (deps: Deps): Route[] => [
  postRoute(deps),
  streamRoute(deps),
  endRoute(deps),
];

const postRoute = ({ mcp }: Deps): Route =>
  defineRoute({
    method: 'POST',
    path: '/mcp',
    id: 'sendMcp',
    tag,
    summary:
      'A message of MCP (2026-07-28, or 2025-11-25 and older), for programs with a token of their own',
    access: AGENTS,
    responses: { 200: { description: 'JSON-RPC, or Server-Sent Events that end with it' } },
    async handle({ principal, context }) {
      const agent = agentOf(principal);
      const sessionId = sessionOf(context.incoming);
      if (sessionId !== undefined && !mcp.isSession(agent, sessionId)) return noSession();
      const body = await readMessage(context);
      if (!body.ok) return body.refusal;
      const request = toRequest(context);
      return toHttpResponse(await mcp.answer({ agent, request, body: body.value, sessionId }));
    },
  });

const streamRoute = ({ mcp, tokens, sessions }: Deps): Route => {
  const places = createCountOfEach(MOST_STREAMS);
  return defineRoute({
    method: 'GET',
    path: '/mcp',
    id: 'openMcpStream',
    tag,
    summary: 'Notifications of MCP up to 2025-11-25, as Server-Sent Events',
    access: AGENTS,
    responses: { 200: { description: 'text/event-stream' } },
    handle({ principal, context }) {
      const agent = agentOf(principal);
      const { incoming } = context;
      const sessionId = sessionOf(incoming);
      if (sessionId !== undefined && !mcp.isSession(agent, sessionId)) return noSession();
      if (!/\btext\/event-stream\b/.test(incoming.headers.accept ?? '')) return onlyPost();
      takePlace(places, principal, context.outgoing, TOO_MANY);
      return {
        status: 200,
        headers: EVENT_STREAM,
        stream(outgoing) {
          const leave = mcp.openStream(agent, {
            send: (text) => void outgoing.write(text),
            end: () => void outgoing.end(),
          });
          const unfollow = followCaller({ tokens, sessions }, principal, () => void outgoing.end());
          outgoing.once('close', () => {
            leave();
            unfollow();
          });
        },
      };
    },
  });
};

const endRoute = ({ mcp }: Deps): Route =>
  defineRoute({
    method: 'DELETE',
    path: '/mcp',
    id: 'endMcp',
    tag,
    summary: 'The end of a session of MCP up to 2025-11-25',
    access: AGENTS,
    responses: { 204: { description: 'It is over' } },
    handle({ principal, context }) {
      const sessionId = sessionOf(context.incoming);
      if (sessionId === undefined) return onlyPost();
      if (!mcp.isSession(agentOf(principal), sessionId)) return noSession();
      mcp.endSession(sessionId);
      return { status: 204, body: '', headers: {} };
    },
  });

/** A person's token decides for people: a program that has it would approve its own calls. */
function agentOf(principal: Caller): Agent {
  if (principal.kind === 'agent') return principal;
  throw new HttpError(
    'permission_denied',
    'MCP is for programs: make a token of the kind "agent" under Settings, or by POST /v1/tokens, and use that.',
  );
}

function sessionOf({ headers }: IncomingMessage): string | undefined {
  const header = headers['mcp-session-id'];
  return typeof header === 'string' ? header : undefined;
}

const JSON_RPC = { parse: -32_700, noSession: -32_001, method: -32_000 } as const;

const rpcError = (code: number, message: string) => ({
  ...{ jsonrpc: '2.0', id: null, error: { code, message } },
});

const noSession = (): HttpResponse =>
  json(
    404,
    rpcError(JSON_RPC.noSession, 'Session not found. Send initialize without Mcp-Session-Id.'),
  );

const onlyPost = (): HttpResponse => ({
  ...{ status: 405, headers: { allow: 'POST' } },
  json: rpcError(JSON_RPC.method, 'Method not allowed. Send messages by POST.'),
});

type Message = { ok: true; value: unknown } | { ok: false; refusal: HttpResponse };

/** What cannot be read is refused as JSON-RPC asks; what is too large, as anywhere. */
async function readMessage(context: RequestContext): Promise<Message> {
  try {
    return { ok: true, value: (await readJson(context)).value };
  } catch (error) {
    if (!(error instanceof HttpError) || error.code !== 'bad_request') throw error;
    return { ok: false, refusal: json(400, rpcError(JSON_RPC.parse, error.message)) };
  }
}

/** Without its body, which was read; by a name of our own, since the host was checked before. */
function toRequest({ incoming, signal }: RequestContext): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (name === 'authorization' || name === 'cookie') continue;
    if (typeof value === 'string') headers.set(name, value);
  }
  return new Request('http://callboard/mcp', { method: 'POST', headers, signal: signal() });
}

async function toHttpResponse(response: Response): Promise<HttpResponse> {
  const { status, body } = response;
  const headers = Object.fromEntries(response.headers);
  delete headers.connection;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  if (!body || !isStream) return { status, headers, body: await response.text() };
  return {
    status,
    headers,
    stream(outgoing) {
      // A reader that leaves ends the source, and with it what was asked.
      pipeline(Readable.from(body), outgoing, () => {});
      outgoing.flushHeaders();
    },
  };
}
