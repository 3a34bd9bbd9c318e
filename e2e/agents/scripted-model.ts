import type { IncomingMessage, ServerResponse } from 'node:http';
import { serveHttp } from '#lib/net/testing/serve-http';
import { chatCompletions } from './dialects/chat-completions.ts';
import type { Dialect, Turn } from './dialects/dialect.ts';
import { messages } from './dialects/messages.ts';
import { responses } from './dialects/responses.ts';

const DIALECTS: Readonly<Record<string, Dialect>> = {
  '/v1/messages': messages,
  '/v1/responses': responses,
  '/v1/chat/completions': chatCompletions,
};

/** One request of an agent to its model, as far as it matters here. */
export interface ModelRequest {
  readonly path: string;
  /** All of it, as it came. */
  readonly body: string;
}

export interface ScriptedModel {
  /** Without a path. */
  readonly url: string;
  readonly requests: readonly ModelRequest[];
  close(): Promise<void>;
}

const LAST_WORDS = 'The script has ended.';

/**
 * A model that calls each tool of the script, in order, and then ends. It keeps no state: how far a
 * conversation is, is in the request. `script`: what the names of the tools end with.
 */
export async function startScriptedModel(script: readonly string[]): Promise<ScriptedModel> {
  const requests: ModelRequest[] = [];
  const { origin, close } = await serveHttp((request, response) => {
    answer(request, response, { script, requests }).catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : new Error(String(error))),
    );
  });
  return { url: origin, requests, close };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { script, requests }: { script: readonly string[]; requests: ModelRequest[] },
): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://model').pathname;
  const body = await readText(request);
  const dialect = request.method === 'POST' ? DIALECTS[path] : undefined;
  if (!dialect) {
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { type: 'not_found', message: `No ${path} here` } }));
    return;
  }
  requests.push({ path, body });
  const { tools, results, streams } = dialect.read(body);
  const wanted = script[results];
  const name = wanted && tools.find((one) => one.endsWith(wanted));
  const turn: Turn = name
    ? { type: 'call', id: `call_${results + 1}`, name }
    : { type: 'text', text: LAST_WORDS };
  response.writeHead(200, {
    'content-type': streams ? 'text/event-stream' : 'application/json',
  });
  response.end(streams ? dialect.stream(turn) : JSON.stringify(dialect.whole(turn)));
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
