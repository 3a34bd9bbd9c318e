import { onTestFinished } from 'vitest';
import { createStreamSocket } from '../../net/stream-socket.ts';
import type { Observable } from '../../util/observable.ts';
import { createMemoryIdentity } from '../client-identity.ts';
import type { ClientToolDefinition } from '../client-tool.ts';
import { createFixedInstanceId } from '../instance-id.ts';
import { createMemoryJournal, type Journal } from '../journal.ts';
import { createToolClient, type ToolClientOptions } from '../tool-client.ts';
import type { Transport } from '../transports.ts';
import { createManualClock } from './manual-clock.ts';
import { createScriptedServer, type Link } from './scripted-server.ts';

/** What a client connects by: one of the two alone, or what it chooses. */
export type Way = Transport | 'choice';

/** Each promise holds on both. */
export const TRANSPORTS: readonly Transport[] = ['socket', 'stream'];

/** A client with a real connection to a scripted server, and with time in the test's hands. */
export async function setupClient(options: Partial<ToolClientOptions> = {}, way: Way = 'socket') {
  const server = await createScriptedServer();
  const clock = createManualClock();
  /** How often it was asked whether the server responds, and the response was there, or none. */
  let checks = 0;
  const ask = async (url: string, init: RequestInit) => {
    try {
      return await fetch(url, init);
    } finally {
      if (init.method === 'HEAD') checks += 1;
    }
  };
  const wakeListeners = new Set<() => void>();
  const putAwayListeners = new Set<() => void>();
  const problems: string[] = [];
  const journals: Journal[] = [];
  let ids = 0;
  const newId = () => {
    ids += 1;
    return `id-${ids}`;
  };
  const openStream = (url: string, protocols: readonly string[]) =>
    createStreamSocket(ask, url, protocols);
  const client = createToolClient({
    url: server.url,
    name: 'test tab',
    kind: 'tab',
    environment: {
      openSocket: (url, protocols) =>
        way === 'stream' ? openStream(url, protocols) : new WebSocket(url, [...protocols]),
      ...(way === 'choice' ? { byRequests: { fetch: ask, openStream } } : {}),
      now: clock.now,
      schedule: clock.schedule,
      random: () => 0.5,
      newId,
      onWake(listener) {
        wakeListeners.add(listener);
        return () => wakeListeners.delete(listener);
      },
      onPutAway(listener) {
        putAwayListeners.add(listener);
        return () => putAwayListeners.delete(listener);
      },
    },
    identity: createMemoryIdentity(),
    instanceId: createFixedInstanceId(newId),
    async openJournal(instanceId) {
      const journal = createMemoryJournal({ epoch: `epoch of ${instanceId}` });
      journals.push(journal);
      return journal;
    },
    onProblem: (message) => problems.push(message),
    ...options,
  });
  onTestFinished(async () => {
    await Promise.all([client.stop(), clock.advance(2_000), server.close()]);
  });
  return {
    server,
    client,
    clock,
    checks: () => checks,
    problems,
    journals,
    wake: () => {
      for (const listener of wakeListeners) listener();
    },
    putAway: () => {
      for (const listener of putAwayListeners) listener();
    },
    async connect() {
      await client.start();
      const link = await server.accept();
      const hello = await link.welcome();
      await until(client.status, ({ state }) => state === 'connected');
      return { link, hello };
    },
    /** Drops the line and comes back; `away` is called between the two. */
    async reconnect(link: Pick<Link, 'cut'>, fields = {}, away = () => {}) {
      link.cut();
      await until(client.status, ({ state }) => state === 'reconnecting');
      away();
      clock.advance(500);
      const back = await server.accept();
      const hello = await back.welcome(fields);
      await until(client.status, ({ state }) => state === 'connected');
      return { back, hello };
    },
  };
}

/** Resolves with the first value, from now on, that fits. */
export function until<T>(value: Observable<T>, fits: (value: T) => boolean): Promise<T> {
  return new Promise((resolve) => {
    const look = (now: T) => {
      if (!fits(now)) return;
      stop();
      resolve(now);
    };
    const stop = value.subscribe(look);
    look(value.get());
  });
}

/** A tool that ends when the test says so. */
export function createHeldTool(tool: Partial<ClientToolDefinition> = {}) {
  const started: string[] = [];
  const signals = new Map<string, AbortSignal>();
  const ends = new Map<string, PromiseWithResolvers<unknown>>();
  const endOf = (id: string) => {
    const end = ends.get(id) ?? Promise.withResolvers<unknown>();
    ends.set(id, end);
    return end;
  };
  const definition: ClientToolDefinition = {
    name: 'door.open',
    description: 'Opens the door.',
    parameters: { type: 'object', properties: {} },
    async run(_args, { callId, signal }) {
      started.push(callId);
      signals.set(callId, signal);
      const aborted = new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason)),
      );
      return { output: await Promise.race([endOf(callId).promise, aborted]) };
    },
    ...tool,
  };
  return {
    definition,
    started,
    signals,
    end: (id: string, output: unknown) => endOf(id).resolve(output),
  };
}

/** The offer of a call. */
export const request = (id: string, fields: Record<string, unknown> = {}) => ({
  type: 'tool_call_request',
  id,
  name: 'door.open',
  args: {},
  run_id: 'run_1',
  attempt: 1,
  timeout_ms: 30_000,
  ...fields,
});

/** The grant of a call. */
export const granted = (id: string, fields: Record<string, unknown> = {}) => ({
  type: 'tool_call_granted',
  id,
  attempt: 1,
  remaining_ms: 30_000,
  ...fields,
});

/** Has the client run a call, as the server would. */
export async function callTool(
  link: Link,
  id: string,
  asked: Record<string, unknown> = {},
  given: Record<string, unknown> = {},
): Promise<void> {
  link.send(request(id, asked));
  await link.next('tool_call_claim');
  link.send(granted(id, given));
}
