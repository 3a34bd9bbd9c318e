import { Agent, request } from 'node:http';
import { startCallboard } from '../start-callboard.ts';
import { startChild } from './child.ts';
import { connectEcho, connectEchoes } from './echo-client.ts';
import { ARGS, BARRIERS, BASELINES, KINDS, type Run, TOOL_OF, type Way } from './kinds.ts';
import { inParallel } from './stats.ts';

/** A call by HTTP `wait_ms`, from the caller to the client and back. */
export async function openHttp(): Promise<Way> {
  const relay = await startChild('raw-relay.ts');
  const callboard = await startCallboard();
  const relayPort = (relay.ready as { port: number }).port;
  const { token } = callboard;
  const clients = [
    await connectEcho(`ws://127.0.0.1:${relayPort}`),
    await connectEchoes(`${callboard.url.replace('http', 'ws')}/ws/client`, KINDS, token),
  ];
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const body = JSON.stringify({ run_id: 'run_bench', args: ARGS, wait_ms: 10_000 });
  const port = Number(new URL(callboard.url).port);
  const to = (options: { port: number; path: string; token?: string }): Run => {
    return (count, inFlight) =>
      inParallel(count, inFlight, () => post(agent, { ...options, body }));
  };
  return {
    runs: Object.fromEntries([
      ...BASELINES.map((name) => [name, to({ port: relayPort, path: `/${BARRIERS[name]}` })]),
      ...KINDS.map((kind) => [
        kind,
        to({ port, path: `/v1/tools/${TOOL_OF[kind]}/invoke`, token }),
      ]),
    ]),
    async close() {
      agent.destroy();
      for (const client of clients) client.close();
      await relay.stop();
      await callboard.remove();
    },
  };
}

interface Posted {
  readonly port: number;
  readonly path: string;
  readonly body: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Resolves once the whole answer is there, which must be 200. */
export function post(agent: Agent, options: Posted): Promise<void> {
  const { port, path, body, token, headers } = options;
  return new Promise((resolve, reject) => {
    const asking = request(
      {
        agent,
        host: '127.0.0.1',
        port,
        path,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          ...(token ? { authorization: `Bearer ${token}` } : {}),
          ...headers,
        },
      },
      (response) => {
        response.resume();
        response.on('end', () =>
          response.statusCode === 200
            ? resolve()
            : reject(new Error(`${path} said ${response.statusCode}`)),
        );
      },
    );
    asking.on('error', reject);
    asking.end(body);
  });
}
