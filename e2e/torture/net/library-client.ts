import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientToolDefinition } from '../../../lib/client/client-tool.ts';
import type { Journal } from '../../../lib/client/journal.ts';
import type { ClientSocket } from '../../../lib/client/transports.ts';
import type { ClientFacts } from '../world/client-facts.ts';
import { hashOf } from '../world/witness.ts';

export type ClientLibrary = typeof import('./client-library.ts');

/** When the effect of a call was done, by call; all clients of a rig write into one. */
export type Effects = Map<string, number[]>;

export interface LibraryClientOptions {
  readonly name: string;
  /** The address of the server, or of a proxy before it. */
  readonly port: number;
  /** The chance in its waits before it connects again. Default: next to nothing. */
  readonly random?: () => number;
  /** Between the library and the line. */
  readonly wrap?: (socket: ClientSocket) => ClientSocket;
  /** Before a message leaves; `text` is what goes into the frame. */
  readonly onSend?: (message: { type: string; id?: string }, text: string) => void;
  readonly journal?: Journal;
  readonly identity?: Identity;
  readonly more?: readonly ClientToolDefinition[];
}

/** The identity of a client, kept where it is to come back as the same. */
export interface Identity {
  readonly instanceId: string;
  clientId?: string;
  resumeToken?: string;
}

/** The real client library in this process, and what it saw. */
export interface LibraryClient {
  readonly name: string;
  readonly identity: Identity;
  readonly journal: Journal;
  facts(): ClientFacts;
  /** Times of its welcomes, and whether each resumed. */
  readonly welcomes: readonly { at: number; resumed: boolean }[];
  /** Times at which it tried to connect. */
  readonly tries: readonly number[];
  /** Times for which it planned to, whenever the machine let it. */
  readonly plans: readonly number[];
  readonly problems: readonly string[];
  /** Refused answers, by code. */
  readonly rejections: readonly { id: string; code: string }[];
  readonly status: () => string;
  /** The number of its next attempt, which it waits for; 0 when it does not wait. */
  readonly attempt: () => number;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** The client looks whether its socket lives, as if the computer had slept. */
  wake(): void;
}

export interface LibraryClientDeps {
  readonly library: ClientLibrary;
  readonly token: string;
  readonly effects: Effects;
}

const parameters = {
  type: 'object',
  properties: { nonce: { type: 'string' }, ms: { type: 'number' }, bytes: { type: 'number' } },
  required: ['nonce'],
};

type Run = ClientToolDefinition['run'];

export function createLibraryClient(
  { library, token, effects }: LibraryClientDeps,
  options: LibraryClientOptions,
): LibraryClient {
  const { name, port, random = () => 0.003, wrap = (socket) => socket } = options;
  const identity: Identity = options.identity ?? { instanceId: `${name}-${crypto.randomUUID()}` };
  const journal = options.journal ?? library.createMemoryJournal({ epoch: crypto.randomUUID() });
  const acknowledged: { id: string; disposition: string; hash: string }[] = [];
  const rejections: { id: string; code: string }[] = [];
  const clientIds = new Set<string>();
  const welcomes: { at: number; resumed: boolean }[] = [];
  const tries: number[] = [];
  const plans: number[] = [];
  let isPlanning = false;
  const problems: string[] = [];
  const sent = new Map<string, string>();
  let wake = () => {};

  function tap(socket: ClientSocket): ClientSocket {
    socket.addEventListener('message', ({ data }) => heard(JSON.parse(String(data))));
    return {
      addEventListener: socket.addEventListener.bind(socket),
      close: (code, reason) => socket.close(code, reason),
      send(text) {
        const message = JSON.parse(text);
        if (message.type === 'tool_result') sent.set(message.id, hashOf(message.output));
        if (message.type === 'tool_error') sent.set(message.id, hashOf({ error: message.error }));
        options.onSend?.(message, text);
        socket.send(text);
      },
    };
  }

  function heard(message: Record<string, unknown>): void {
    const { type, id } = message;
    if (type === 'welcome') {
      clientIds.add(String(message.client_id));
      welcomes.push({ at: performance.now(), resumed: message.resumed === true });
    } else if (type === 'result_acknowledged') {
      const hash = sent.get(String(id)) ?? '-';
      acknowledged.push({ id: String(id), disposition: String(message.disposition), hash });
    } else if (type === 'result_rejected') {
      rejections.push({ id: String(id), code: String(message.code) });
    }
  }

  const effect: Run = async ({ nonce, ms, bytes }, { callId }) => {
    if (ms) await sleep(Number(ms) / 2);
    effects.set(callId, [...(effects.get(callId) ?? []), Date.now()]);
    if (ms) await sleep(Number(ms) / 2);
    const filling = bytes ? { filling: 'x'.repeat(Number(bytes)) } : {};
    return { output: { call: callId, by: name, nonce, ...filling } };
  };
  const read: Run = ({ nonce }, { callId }) => ({ output: { call: callId, by: name, nonce } });
  const tool = (toolName: string, run: Run, annotations = {}): ClientToolDefinition => ({
    name: toolName,
    description: toolName,
    parameters,
    concurrency: 64,
    annotations,
    run,
  });

  const client = library.createToolClient({
    url: `ws://127.0.0.1:${port}/ws/client`,
    protocols: ['callboard.v1', `bearer.${token}`],
    name,
    kind: 'program',
    tools: [
      tool('effect', effect),
      tool(`effect_${name}`, effect),
      tool('read', read, { readOnlyHint: true }),
      ...(options.more ?? []),
    ],
    environment: {
      openSocket(url, protocols) {
        tries.push(performance.now());
        return tap(wrap(new WebSocket(url, [...protocols])));
      },
      now: () => Date.now(),
      schedule(ms, fire) {
        // It asks for chance only to choose how long it waits before it tries again.
        if (isPlanning) plans.push(performance.now() + ms);
        isPlanning = false;
        const timer = setTimeout(fire, ms);
        return () => clearTimeout(timer);
      },
      random() {
        isPlanning = true;
        return random();
      },
      newId: () => crypto.randomUUID(),
      onWake(listener) {
        wake = listener;
        return () => {
          wake = () => {};
        };
      },
    },
    identity: {
      clientId: () => identity.clientId,
      resumeToken: () => identity.resumeToken,
      save: (known) => void Object.assign(identity, known),
    },
    instanceId: {
      take: async () => identity.instanceId,
      renew: async () => `${name}-${crypto.randomUUID()}`,
      release() {},
    },
    openJournal: async () => journal,
    onProblem: (message) => void problems.push(message),
  });

  return {
    name,
    identity,
    journal,
    welcomes,
    tries,
    plans,
    problems,
    rejections,
    facts: () => ({ name, clientIds, acknowledged, rejected: rejections.length, problems }),
    status: () => client.status.get().state,
    attempt() {
      const status = client.status.get();
      return status.state === 'reconnecting' ? status.attempt : 0;
    },
    start: () => client.start(),
    stop: () => client.stop(),
    wake: () => wake(),
  };
}
