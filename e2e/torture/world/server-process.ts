import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { environmentOfServer } from '../../start-callboard.ts';

/** A start takes half a second; on a machine under load half a minute was seen. */
const START_MS = 120_000;

export interface ServerOptions {
  readonly serverFile: string;
  readonly dataDir: string;
  readonly port: number;
  readonly token: string;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly args?: readonly string[] | undefined;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** One life of a server process. It may end at any moment, also before it is ready. */
export interface ServerProcess {
  readonly pid: number;
  /** Milliseconds from its start until it served; undefined when it ended before. */
  readonly ready: Promise<number | undefined>;
  readonly ended: Promise<Exit>;
  readonly isAlive: boolean;
  log(): string;
  /** Ends it at once, as a power cut would. */
  kill(): Promise<Exit>;
  /** Asks it to stop; a server that does not within ten seconds is ended. */
  stop(): Promise<Exit>;
}

export function startServer(options: ServerOptions): ServerProcess {
  const startedAt = performance.now();
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', options.serverFile, ...(options.args ?? [])],
    { env: environment(options), stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const output: string[] = [];
  const ended = once(child, 'exit').then(([code, signal]): Exit => ({ code, signal }));
  const isAlive = () => child.exitCode === null && child.signalCode === null;
  const ready = new Promise<number | undefined>((resolve) => {
    const tooLate = setTimeout(() => child.kill('SIGKILL'), START_MS);
    const settle = (ms: number | undefined) => {
      clearTimeout(tooLate);
      resolve(ms);
    };
    const take = (chunk: Buffer) => {
      output.push(chunk.toString());
      if (chunk.includes('/sign-in/')) settle(performance.now() - startedAt);
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.once('error', () => settle(undefined));
    void ended.then(() => settle(undefined));
  });

  async function end(signal: NodeJS.Signals): Promise<Exit> {
    if (isAlive()) child.kill(signal);
    const lastResort = setTimeout(() => child.kill('SIGKILL'), 10_000);
    const exit = await ended;
    clearTimeout(lastResort);
    return exit;
  }

  return {
    pid: child.pid ?? 0,
    ready,
    ended,
    get isAlive() {
      return isAlive();
    },
    log: () => output.join(''),
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  };
}

function environment({ dataDir, port, token, env }: ServerOptions) {
  return {
    ...environmentOfServer(),
    CALLBOARD_PORT: String(port),
    CALLBOARD_DATA_DIR: dataDir,
    CALLBOARD_TOKEN: token,
    ...env,
  };
}

/** A port that is free now; kept over restarts, so that clients find the server again. */
export async function takePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('no port was given');
  return address.port;
}
