import {
  Client,
  type jsonSchemaValidator,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { given } from '#lib/util/given';
import { boundedFetch } from './bounded-fetch.ts';
import { isHttpServer, type McpServerSettings } from './mcp-servers-config.ts';
import { type Handshake, mendMessages } from './mend-message.ts';
import { type OutputTail, ProgramTransport } from './program-transport.ts';
import { passAround } from './task-messages.ts';

/** A server names how long to wait in its stream: none, or more than a timer can wait, which is none too. */
const WAIT_MS = { least: 1_000, most: 60_000 } as const;

/** Runs `reconnect` after `ms`, within bounds. Returns a function that takes it back. */
function scheduleReconnection(reconnect: () => void, ms: number): () => void {
  const timer = setTimeout(reconnect, Math.min(Math.max(ms, WAIT_MS.least), WAIT_MS.most));
  return () => clearTimeout(timer);
}

/** So many requests of a server are answered at a time; all are refused but a sign of life. */
const MOST_OPEN = 8;

const TOO_MANY = `The server asked for something while ${MOST_OPEN} answers to it were on their way; it gets none.`;

/** A server that asks without an end, and reads no answer, does not fill the memory with answers (rule MC74). */
function boundAnswers(transport: Transport): void {
  const send = transport.send.bind(transport);
  let open = 0;
  transport.send = async (message, options) => {
    if ('method' in message) return send(message, options);
    if (open >= MOST_OPEN) throw new Error(TOO_MANY);
    open += 1;
    try {
      await send(message, options);
    } finally {
      open -= 1;
    }
  };
}

/** One message has so much at most; a result may have 8 MiB, and pictures beside it. */
const MESSAGE_BYTES = 12 * 1024 * 1024;

/** Without an answer by then, a program speaks the older protocol. */
const PROBE_MS = 10_000;

export interface ConnectionEvents {
  listChanged(): void;
  /** The connection has ended, by either side. */
  closed(): void;
  /** Something went wrong without ending the connection. */
  failed(error: Error): void;
}

/** An open connection to one server. */
export interface Connection {
  readonly client: Client;
  /** The version of the protocol, such as 2026-07-28. */
  readonly version: string;
  readonly era: 'legacy' | 'modern';
  readonly server: { readonly name: string; readonly version: string } | null;
  close(): Promise<void>;
}

export interface ConnectOptions extends ConnectionEvents {
  readonly version: string;
  /** It is spoken to in the older protocol, without being asked which it speaks. */
  readonly isLegacy: boolean;
  readonly signal: AbortSignal;
  /** What a program writes to its error output goes here. */
  readonly tail: OutputTail;
}

/** Results are checked by what reads them; a schema of a server is compiled by nothing of the package. */
const NO_VALIDATOR: jsonSchemaValidator = {
  getValidator: () => () => ({
    valid: false,
    data: undefined,
    errorMessage: 'Schemas of results are not used',
  }),
};

/** The SDK says so of a note that comes after the end of its call: nothing is wrong then. */
const LATE_PROGRESS = /^Received a progress notification for an unknown token/;

export async function connectServer(
  settings: McpServerSettings,
  options: ConnectOptions,
): Promise<Connection> {
  const startMs = settings.start_timeout_s * 1_000;
  const probe = { timeoutMs: isHttpServer(settings) ? startMs : Math.min(startMs, PROBE_MS) };
  const client = new Client(
    { name: 'callboard', title: 'Callboard', version: options.version },
    {
      // Neither elicitation nor sampling nor roots: what a server asks for is refused.
      capabilities: {},
      jsonSchemaValidator: NO_VALIDATOR,
      versionNegotiation: { mode: 'auto', probe },
      listChanged: {
        tools: { autoRefresh: false, debounceMs: 0, onChanged: () => options.listChanged() },
      },
    },
  );
  const handshake: Handshake = new Set();
  const transport = isHttpServer(settings)
    ? openHttp(settings, handshake)
    : startProgram(settings, options.tail, handshake);
  passAround(transport, handshake);
  boundAnswers(transport);
  client.onclose = () => options.closed();
  client.onerror = (error) => {
    if (!LATE_PROGRESS.test(error.message)) options.failed(error);
  };
  // The transport too: while it is asked which protocol it speaks, the client does not have it yet.
  const end = async () => {
    await Promise.all([client.close(), transport.close()]);
  };
  const { signal } = options;
  const stopped = () => void end().catch(options.failed);
  signal.addEventListener('abort', stopped);
  try {
    signal.throwIfAborted();
    await client.connect(transport, {
      timeout: startMs,
      signal,
      ...(options.isLegacy && { prior: { kind: 'legacy' } }),
    });
  } catch (error) {
    await end();
    throw startFailure(error, transport, settings);
  } finally {
    signal.removeEventListener('abort', stopped);
  }
  const { name, version } = client.getServerVersion() ?? {};
  return {
    client,
    version: client.getNegotiatedProtocolVersion() ?? '',
    era: client.getProtocolEra() === 'modern' ? 'modern' : 'legacy',
    server: name === undefined || version === undefined ? null : { name, version },
    close: end,
  };
}

/** Says what a person can do something about. */
function startFailure(
  error: unknown,
  transport: Transport,
  { start_timeout_s }: McpServerSettings,
): unknown {
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    return new Error(`It did not answer within ${start_timeout_s} s (start_timeout_s).`);
  }
  const ended = transport instanceof ProgramTransport ? transport.ended : undefined;
  return ended === undefined ? error : new Error(`The program ended at its start, ${ended}.`);
}

type OfKind<Kind> = Extract<McpServerSettings, Kind>;

export const openHttp = (
  { url, headers }: Pick<OfKind<{ url: string }>, 'url' | 'headers'>,
  handshake: Handshake = new Set(),
): Transport =>
  new StreamableHTTPClientTransport(new URL(url), {
    fetch: boundedFetch(MESSAGE_BYTES, (came, asked) => mendMessages(came, handshake, asked)),
    reconnectionScheduler: scheduleReconnection,
    requestInit: { headers },
  });

function startProgram(
  { command, args, env, cwd }: OfKind<{ command: string }>,
  tail: OutputTail,
  handshake: Handshake,
): Transport {
  return new ProgramTransport(
    { command, args, env, stderr: 'pipe', ...given({ cwd }) },
    { tail, mostBytes: MESSAGE_BYTES, read: (came) => mendMessages(came, handshake) },
  );
}
