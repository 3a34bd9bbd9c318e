import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { serveHttp } from '#lib/net/testing/serve-http';
import { callRecord } from '#lib/stores/testing/fixtures';
import { tempDir } from '#lib/testing/temp-dir';
import { runCli } from '../run-cli.ts';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly token: string | undefined;
  readonly body: unknown;
  readonly headers: IncomingMessage['headers'];
}

/** A status other than 200 is given with `status`. */
export type Reply = (asked: Asked) => unknown;
export class Status {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Record<string, string>;
  constructor(status: number, body: unknown, headers: Record<string, string> = {}) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** A server that answers by `method path`, without the query; it notes what it was asked. */
export async function scriptedServer(replies: Readonly<Record<string, Reply>>) {
  const asked: Asked[] = [];
  const { server, origin, close } = await serveHttp(async (request, response) => {
    const one = await readRequest(request);
    asked.push(one);
    const reply = replies[`${one.method} ${one.path.split('?')[0]}`];
    answer(response, reply === undefined ? notFound(one) : reply(one));
  });
  onTestFinished(close);
  return { url: origin, asked, server };
}

async function readRequest(request: IncomingMessage): Promise<Asked> {
  const body = await text(request);
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    token: request.headers.authorization?.replace('Bearer ', ''),
    body: body === '' ? undefined : JSON.parse(body),
    headers: request.headers,
  };
}

function answer(response: ServerResponse, value: unknown): void {
  const { status, body, headers } = value instanceof Status ? value : new Status(200, value);
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(Buffer.isBuffer(body) ? body : JSON.stringify(body));
}

const notFound = ({ path }: Asked) =>
  new Status(404, { error: { code: 'not_found', message: `There is no ${path}.` } });

export interface CliSetup {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** What a person at the terminal answers; without it nobody is there. */
  readonly answers?: readonly (string | null)[];
  readonly stdin?: string;
  readonly signal?: AbortSignal;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** Runs one command in this process, with streams of its own. */
export async function cli(line: readonly string[], setup: CliSetup = {}) {
  const stdout = Object.assign(new PassThrough(), {
    isTTY: setup.isTTY ?? false,
    columns: setup.columns,
  });
  const stderr = new PassThrough();
  const answers = [...(setup.answers ?? [])];
  const questions: string[] = [];
  const prompt = {
    isThere: setup.answers !== undefined,
    async ask(question: string) {
      questions.push(question);
      return answers.shift() ?? null;
    },
  };
  const printed = Promise.all([text(stdout), text(stderr)]);
  const code = await runCli({
    line,
    env: setup.env ?? {},
    cwd: setup.cwd ?? emptyFolder(),
    terminal: { stdin: Readable.from([setup.stdin ?? '']), stdout, stderr, prompt },
    version: '1.2.3',
    signal: setup.signal ?? new AbortController().signal,
  });
  stdout.end();
  stderr.end();
  const [out, errors] = await printed;
  return { code, out, errors, questions };
}

export function emptyFolder(): string {
  return tempDir();
}

const NOW = 1_800_000_000;

/** A call as the server sends it, final unless `more` says otherwise. */
export const wireCall = (more: Readonly<Record<string, unknown>> = {}) => ({
  ...callRecord({
    ...{ tool_name: 'weather.query', result: 'fine', created_at: NOW, completed_at: NOW + 1 },
    timings: { queued_at: NOW, offered_at: NOW, started_at: NOW, completed_at: NOW + 1 },
    ...{ timeout_ms: 30_000, card: { status: 'SUCCESS' } },
  }),
  ...more,
});

export const accepted = () =>
  new Status(202, { tool_call_id: 'tc_1', status: 'pending', message: 'recorded' });

/** What a server answers to a call of the tool `t`, and to who asks how it ended. */
export const calling = (call: Readonly<Record<string, unknown>> = {}) => ({
  'POST /v1/tools/t/invoke': accepted,
  'GET /v1/tool_calls/tc_1': () => wireCall(call),
});
