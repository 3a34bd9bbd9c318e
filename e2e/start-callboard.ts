import type { ChildProcessByStdio } from 'node:child_process';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { SERVER_FLAGS, SERVER_MEMORY } from '../server/bootstrap/run-server.mjs';

const ROOT = resolve(import.meta.dirname, '..');

/** A cold start takes half a second; on a machine under load half a minute was seen. */
const START_MS = 120_000;

/** The server has five seconds to stop (contract, section 3); one that takes more is ended. */
const STOP_MS = 10_000;

type ServerProcess = ChildProcessByStdio<null, Readable, Readable>;

/** The answer to one HTTP request to the server. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed when it is JSON, else the text. */
  readonly body: unknown;
}

/** A built server of one test's own: on a free port, with an empty data directory. */
export interface Callboard {
  readonly url: string;
  /** Good for one sign-in. */
  readonly signInUrl: string;
  /** The operator's. */
  readonly token: string;
  readonly dataDir: string;
  readonly pid: number;
  /** All that the server has printed so far. */
  log(): string;
  /** A request with the operator's token. */
  http(method: string, path: string, body?: unknown): Promise<HttpAnswer>;
  /** Ends the server and leaves its data; gives its exit code, null when a signal ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Ends the server and removes its data. */
  remove(): Promise<void>;
}

export interface StartOptions {
  /** Environment variables for the server, over those that a test needs. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The data of a server that was stopped; by default an empty directory. */
  readonly dataDir?: string | undefined;
  readonly token?: string | undefined;
  /** Another build of the server than the one in `dist/`, or the launcher. */
  readonly serverFile?: string | undefined;
  /** Where it is started; by default this project. */
  readonly folder?: string | undefined;
  /** The arguments that stand behind it on the command line. */
  readonly args?: readonly string[] | undefined;
}

/** Starts `dist/server.mjs` as the launcher does, and waits until it has printed its sign-in URL. */
export async function startCallboard(options: StartOptions = {}): Promise<Callboard> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'callboard-e2e-')));
  const token = options.token ?? randomBytes(24).toString('base64url');
  const server = spawn(
    process.execPath,
    [
      ...SERVER_FLAGS,
      options.serverFile ?? join(ROOT, 'dist', 'server.mjs'),
      ...(options.args ?? []),
    ],
    {
      cwd: options.folder ?? ROOT,
      env: environment({ dataDir, token, more: options.env }),
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const output: string[] = [];
  const ended = once(server, 'exit');
  const signInUrl = await untilReady(server, output);
  const url = new URL(signInUrl).origin;

  async function stop(signal: NodeJS.Signals = 'SIGTERM') {
    if (server.exitCode !== null || server.signalCode !== null) return server.exitCode;
    server.kill(signal);
    const lastResort = setTimeout(() => server.kill('SIGKILL'), STOP_MS);
    await ended;
    clearTimeout(lastResort);
    return server.exitCode;
  }

  return {
    url,
    signInUrl,
    token,
    dataDir,
    pid: server.pid ?? 0,
    log: () => output.join(''),
    http: (method, path, body) => request(url + path, { method, token, body }),
    stop,
    async remove() {
      await stop('SIGKILL');
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Keeps what the server prints, and gives the sign-in URL as soon as it is among it. */
function untilReady(server: ServerProcess, output: string[]): Promise<string> {
  return new Promise((found, failed) => {
    const giveUp = (what: string) => {
      clearTimeout(tooLate);
      server.kill('SIGKILL');
      failed(new Error(`The server ${what}:\n${output.join('')}`));
    };
    const tooLate = setTimeout(() => giveUp(`printed no sign-in URL in ${START_MS} ms`), START_MS);
    const take = (chunk: Buffer) => {
      output.push(chunk.toString());
      // The pattern has the line's end: a chunk may end in the middle of the URL.
      const url = /(https?:\/\/\S+\/sign-in\/\S+)\s/.exec(output.join(''))?.[1];
      if (url === undefined) return;
      clearTimeout(tooLate);
      found(url);
    };
    server.stdout.on('data', take);
    server.stderr.on('data', take);
    server.once('error', (error) => giveUp(`could not be started: ${error.message}`));
    server.once('exit', (code) => giveUp(`ended with ${code} at its start`));
  });
}

/** Nothing of the caller's own model, port or data reaches a server under test. */
export function environmentOfServer() {
  const inherited = Object.entries(process.env).filter(
    ([name]) =>
      !/^(CALLBOARD_|OPENAI_|ANTHROPIC_|GOOGLE_GENERATIVE_|OTEL_|DATABASE_URL$|NATS_URL$)/.test(
        name,
      ),
  );
  return {
    ...Object.fromEntries(inherited),
    NODE_ENV: 'production' as const,
    CALLBOARD_PORT: '0',
    CALLBOARD_HOST: '127.0.0.1',
  };
}

function environment(given: { dataDir: string; token: string; more: StartOptions['env'] }) {
  return {
    ...SERVER_MEMORY,
    ...environmentOfServer(),
    CALLBOARD_DATA_DIR: given.dataDir,
    CALLBOARD_TOKEN: given.token,
    ...given.more,
  };
}

async function request(
  url: string,
  { method, token, body }: { method: string; token: string; body: unknown },
): Promise<HttpAnswer> {
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    redirect: 'manual',
  });
  const { status, headers } = response;
  const isJson = /\bjson\b/.test(headers.get('content-type') ?? '');
  return { status, headers, body: isJson ? await response.json() : await response.text() };
}
