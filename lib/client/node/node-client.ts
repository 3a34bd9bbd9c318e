import { join } from 'node:path';
import { createStreamSocket } from '../../net/stream-socket.ts';
import { PROTOCOL, toCredentialProtocol } from '../../protocol/subprotocols.ts';
import { randomId } from '../../util/random-id.ts';
import { schedule } from '../../util/schedule.ts';
import type { ClientToolDefinition } from '../client-tool.ts';
import type { ClientStatus } from '../connection.ts';
import { createHttpUploadBlob } from '../encode-answer.ts';
import { insecureTransport } from '../insecure-transport.ts';
import { createToolClient, type ToolClient, type ToolClientOptions } from '../tool-client.ts';
import type { ClientEnvironment, ClientSocket } from '../transports.ts';
import { createFileIdentity } from './file-identity.ts';
import { type DataDirLock, lockDataDir } from './lock-data-dir.ts';
import { openSqliteJournal } from './sqlite-journal.ts';

const TICK_MS = 1_000;
/** A tick that is late by this much came from a program or a computer that had stood still. */
const LATE_MS = 4_000;

/** Calls back when time has jumped between two ticks. Returns the unsubscribe function. */
export function watchForSleep(
  { now, schedule }: Pick<ClientEnvironment, 'now' | 'schedule'>,
  onWake: () => void,
): () => void {
  let last = now();
  let stop = schedule(TICK_MS, tick);

  function tick() {
    const late = now() - last - TICK_MS;
    last = now();
    stop = schedule(TICK_MS, tick);
    if (late >= LATE_MS) onWake();
  }

  return () => stop();
}

/** A `WebSocket` as browsers have it: Node's own, or that of the package `ws`. */
type WebSocketConstructor = new (url: string, protocols: string[]) => ClientSocket;

/** All that a client needs of a Node program. */
export function createNodeEnvironment({
  WebSocket,
}: {
  WebSocket: WebSocketConstructor;
}): ClientEnvironment {
  const now = () => Date.now();
  return {
    openSocket: (url, protocols) => new WebSocket(url, [...protocols]),
    byRequests: {
      fetch,
      openStream: (url, protocols) => createStreamSocket(fetch, url, protocols),
    },
    now,
    schedule,
    random: () => Math.random(),
    newId: randomId,
    onWake: (listener) => watchForSleep({ now, schedule: scheduleAside }, listener),
  };
}

/** A timer that does not keep the program from ending. */
function scheduleAside(ms: number, fire: () => void): () => void {
  const timer = setTimeout(fire, ms).unref();
  return () => clearTimeout(timer);
}

export interface NodeToolClientOptions
  extends Pick<ToolClientOptions, 'onProblem' | 'onRejectedTools'> {
  /** The server's address: `http://127.0.0.1:3000`. */
  readonly url: string;
  /** An operator's, or a device's that was made by pairing. */
  readonly token: string;
  /** Shown to people. */
  readonly name: string;
  readonly tools: readonly ClientToolDefinition[];
  /** For this client alone: its identity and its journal. Made when it does not exist. */
  readonly dataDir: string;
  /** Without TLS, over a network: everyone there can read the token and what the tools give. */
  readonly allowInsecureTransport?: boolean;
  /** By default the one that Node has. */
  readonly WebSocket?: WebSocketConstructor;
}

/** A connection that others could read is not made. */
class InsecureTransportError extends Error {
  override readonly name = 'InsecureTransportError';
  readonly code = 'insecure_transport';
}

/**
 * A Node program as a client, whose calls and answers survive its end (contract, promises P2 and P3).
 * Throws `InsecureTransportError` for a server of a network without TLS.
 */
export async function createNodeToolClient(options: NodeToolClientOptions): Promise<ToolClient> {
  const {
    url,
    token,
    dataDir,
    onProblem = console.warn,
    WebSocket = globalThis.WebSocket,
  } = options;
  const insecure = insecureTransport(url, 'program', options.allowInsecureTransport);
  if (insecure !== undefined) throw new InsecureTransportError(insecure);
  let lock: DataDirLock | undefined = lockDataDir(dataDir);
  const headers = { authorization: `Bearer ${token}` };
  const client = createToolClient({
    ...options,
    ...createFileIdentity({ path: join(dataDir, 'client.json'), newId: randomId, onProblem }),
    url: new URL('/ws/client', url).href.replace(/^http/, 'ws'),
    protocols: [PROTOCOL, toCredentialProtocol('bearer', token)],
    kind: 'program',
    environment: createNodeEnvironment({ WebSocket }),
    openJournal: async (instanceId) =>
      openSqliteJournal({
        path: join(dataDir, `journal-${instanceId}.db`),
        newId: randomId,
        onProblem,
      }),
    uploadBlob: createHttpUploadBlob({ baseUrl: new URL(url).origin, fetch, headers }),
    isRefused: () => isRefused(url, headers),
    onProblem,
  });
  client.status.subscribe((status) => {
    const problem = describeTrouble(status, url);
    if (problem !== undefined) onProblem(problem);
  });

  return {
    ...client,
    get toolNames() {
      return client.toolNames;
    },
    async start() {
      lock ??= lockDataDir(dataDir);
      await client.start();
    },
    async stop() {
      await client.stop();
      lock?.release();
      lock = undefined;
    },
  };
}

/** A person at the terminal has to learn it; one lost connection is soon made again. */
function describeTrouble(status: ClientStatus, url: string): string | undefined {
  if (status.state === 'refused') {
    return `${url} refuses this client: ${status.reason}. It does not try again; give it the token of the server`;
  }
  if (status.state !== 'reconnecting' || status.attempt !== 2) return undefined;
  return `there is no connection to ${url}; trying again until there is one`;
}

/** A socket that could not be opened gives no reason; a request does. Without a response nothing is refused. */
async function isRefused(url: string, headers: Record<string, string>): Promise<boolean> {
  try {
    const answer = await fetch(new URL('/v1/tools', url), { headers });
    await answer.body?.cancel();
    return answer.status === 401;
  } catch {
    return false;
  }
}
