/**
 * One process, one client of the real library. What it saw and did is written
 * down before the library goes on, so that a kill at any moment loses no
 * witness. Started by the harness with its `ClientConfig` as JSON.
 */
import { appendFileSync, closeSync, existsSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientToolDefinition } from '../../lib/client/client-tool.ts';
import { createNodeToolClient } from '../../lib/client/node/node-client.ts';
import type { Socket } from '../../lib/net/environment.ts';
import { createStreamSocket } from '../../lib/net/stream-socket.ts';
import { createUnrulySocket } from './world/unruly-socket.ts';
import { hashOf } from './world/witness.ts';

/** A client process is told this; paths are of files that no fault touches. */
export interface ClientConfig {
  readonly url: string;
  readonly token: string;
  readonly name: string;
  /** The folder of the library: journal and identity. */
  readonly dataDir: string;
  /** The file of what it saw: `welcome`, `sent`, `ack`, `rejected`, `problem`. */
  readonly logFile: string;
  /** One line per effect. */
  readonly effectFile: string;
  /** Messages come more than once, and in another order; what exactly follows from this. */
  readonly unruly?: string;
  /** By streams and requests alone, as where no socket can be opened. */
  readonly streams?: boolean;
}

const config = JSON.parse(process.argv[2] ?? '') as ClientConfig;
const log = (...words: string[]) => appendFileSync(config.logFile, `${words.join(' ')}\n`);

const ask = globalThis.fetch;
if (config.streams) {
  // The library asks so whether to try a stream; one of its own choice would not be tapped.
  globalThis.fetch = (input, init) =>
    init?.method === 'HEAD' ? Promise.reject(new TypeError('not asked')) : ask(input, init);
}

// The library's waits are random up to a cap that doubles; a server that is
// killed ten times a minute would soon be waited for half a minute.
Math.random = () => 0.003;

/** By call: the hash of what was sent last. */
const sent = new Map<string, string>();

class TappedSocket extends createUnrulySocket(config.unruly) {
  constructor(url: string | URL, protocols?: string | string[]) {
    super(url, protocols);
    this.addEventListener('message', ({ data }) => tapped(String(data)));
  }

  override send(data: Parameters<WebSocket['send']>[0]): void {
    sending(String(data), (text) => super.send(text));
  }
}

/** The library's own stream in the place of a socket. */
class TappedStream implements Socket {
  readonly #stream: Socket;
  readonly addEventListener: Socket['addEventListener'];

  constructor(url: string, protocols: readonly string[]) {
    const stream = createStreamSocket(ask, url, protocols);
    stream.addEventListener('message', ({ data }) => tapped(String(data)));
    this.#stream = stream;
    this.addEventListener = stream.addEventListener.bind(stream);
  }

  send(text: string): void {
    sending(text, (all) => this.#stream.send(all));
  }

  close(code?: number, reason?: string): void {
    this.#stream.close(code, reason);
  }
}

function sending(text: string, send: (text: string) => void): void {
  const message = JSON.parse(text);
  if (message.type === 'tool_result') sent.set(message.id, hashOf(message.output));
  if (message.type === 'tool_error') sent.set(message.id, hashOf({ error: message.error }));
  send(text);
  if (message.type === 'tool_result') log('sent', message.id);
}

function tapped(text: string): void {
  const message = JSON.parse(text);
  const hash = sent.get(message.id) ?? '-';
  if (message.type === 'welcome') log('welcome', message.client_id, String(message.resumed));
  if (message.type === 'result_acknowledged') log('ack', message.id, message.disposition, hash);
  if (message.type === 'result_rejected') log('rejected', message.id, message.code, hash);
}

/** The effect: on disk before the tool goes on, in a file that no fault touches. */
function act(callId: string, nonce: unknown): void {
  const file = openSync(config.effectFile, 'a');
  writeSync(file, `${callId} ${config.name} ${nonce} ${Date.now()}\n`);
  fsyncSync(file);
  closeSync(file);
}

const parameters = {
  type: 'object',
  properties: {
    nonce: { type: 'string' },
    ms: { type: 'number' },
    bytes: { type: 'number' },
    // A file that is not there yet: the tool ends once it is.
    until: { type: 'string' },
  },
  required: ['nonce'],
};

type Run = ClientToolDefinition['run'];

const tool = (name: string, run: Run, annotations = {}): ClientToolDefinition => ({
  name,
  description: name,
  parameters,
  timeoutMs: 5_000,
  concurrency: 8,
  annotations,
  run,
});

const answer = (callId: string, nonce: unknown, more = {}) => ({
  output: { call: callId, by: config.name, nonce, ...more },
});

const run: Run = async ({ nonce, ms, bytes, until }, { callId }) => {
  await sleep(Number(ms ?? 0) / 2);
  act(callId, nonce);
  if (until === undefined) await sleep(Number(ms ?? 0) / 2);
  else while (!existsSync(String(until))) await sleep(5);
  return answer(callId, nonce, bytes === undefined ? {} : { filling: 'x'.repeat(Number(bytes)) });
};

const client = await createNodeToolClient({
  url: config.url,
  token: config.token,
  name: config.name,
  dataDir: config.dataDir,
  WebSocket: config.streams ? TappedStream : TappedSocket,
  tools: [
    tool('effect', run),
    tool('effect_slow', run),
    tool('read', async ({ nonce }, { callId }) => answer(callId, nonce), { readOnlyHint: true }),
    tool('big', async ({ nonce, bytes }, { callId }) =>
      answer(callId, nonce, { filling: 'x'.repeat(Number(bytes ?? 20_000)) }),
    ),
  ],
  onProblem: (message) => log('problem', message),
});

await client.start();

// A harness that was ended cannot end it.
const parent = process.ppid;
setInterval(() => process.ppid === parent || process.exit(0), 1_000).unref();
