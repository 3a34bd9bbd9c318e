import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { SERVER_FLAGS, SERVER_MEMORY } from '../server/bootstrap/run-server.mjs';

const ROOT = resolve(import.meta.dirname, '..');

/** A cold start takes half a second; on a machine under load half a minute was seen. */
const START_MS = 120_000;

/** The server has five seconds to stop (contract, section 3); one that takes more is ended. */
const STOP_MS = 10_000;

/** The answer to one HTTP request to the server. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed when it is JSON, else the text. */
  readonly body: unknown;
}

/** A caller reaches a server with this. */
export interface Address {
  readonly url: string;
  /** The operator's, mostly. */
  readonly token: string;
}

/** A built server of one test's own: on a free port, with an empty data directory. */
export interface Callboard extends Address {
  /** Good for one sign-in. */
  readonly signInUrl: string;
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

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** One life of a server process. It may end at any moment, also before it is ready. */
export interface ServerProcess {
  readonly pid: number;
  /** The sign-in URL, once it is printed; undefined when the server ended before. */
  readonly ready: Promise<string | undefined>;
  readonly ended: Promise<Exit>;
  readonly isAlive: boolean;
  log(): string;
  /** A server that does not end by it within ten seconds is killed. */
  end(signal: NodeJS.Signals): Promise<Exit>;
}

interface SpawnOptions extends StartOptions {
  readonly dataDir: string;
  readonly token: string;
}

/** Starts `dist/server.mjs` as the launcher does. */
export function spawnServer(options: SpawnOptions): ServerProcess {
  const { serverFile = join(ROOT, 'dist', 'server.mjs'), folder = ROOT, args = [] } = options;
  const child = spawn(process.execPath, [...SERVER_FLAGS, serverFile, ...args], {
    cwd: folder,
    env: {
      ...SERVER_MEMORY,
      ...environmentOfServer(),
      CALLBOARD_DATA_DIR: options.dataDir,
      CALLBOARD_TOKEN: options.token,
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: string[] = [];
  const ended = once(child, 'exit').then(([code, signal]): Exit => ({ code, signal }));
  const found = Promise.withResolvers<string | undefined>();
  const tooLate = setTimeout(() => child.kill('SIGKILL'), START_MS);
  let isFound = false;
  const take = (chunk: Buffer) => {
    output.push(chunk.toString());
    // The pattern has the line's end: a chunk may end in the middle of the URL.
    const url = isFound ? undefined : /(https?:\/\/\S+\/sign-in\/\S+)\s/.exec(output.join(''))?.[1];
    if (url === undefined) return;
    isFound = true;
    found.resolve(url);
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  void ended.then(() => found.resolve(undefined), found.reject);
  const isAlive = () => child.exitCode === null && child.signalCode === null;
  return {
    pid: child.pid ?? 0,
    ready: found.promise.finally(() => clearTimeout(tooLate)),
    ended,
    get isAlive() {
      return isAlive();
    },
    log: () => output.join(''),
    async end(signal) {
      if (isAlive()) child.kill(signal);
      const lastResort = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      return ended.finally(() => clearTimeout(lastResort));
    },
  };
}

/** A server that has printed its sign-in URL. */
export async function startCallboard(options: StartOptions = {}): Promise<Callboard> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'callboard-e2e-')));
  const token = options.token ?? randomBytes(24).toString('base64url');
  const server = spawnServer({ ...options, dataDir, token });
  const signInUrl = await server.ready;
  if (signInUrl === undefined) {
    const { code, signal } = await server.ended;
    throw new Error(`The server ended with ${signal ?? code} at its start:\n${server.log()}`);
  }
  const url = new URL(signInUrl).origin;
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => (await server.end(signal)).code;
  return {
    url,
    signInUrl,
    token,
    dataDir,
    pid: server.pid,
    log: server.log,
    http: (method, path, body) => request(url + path, { method, token, body }),
    stop,
    async remove() {
      await stop('SIGKILL');
      await rm(dataDir, { recursive: true, force: true });
    },
  };
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
