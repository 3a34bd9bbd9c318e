import { Agent, request } from 'node:http';
import { startCallboard } from '../start-callboard.ts';
import { startChild } from './child.ts';
import { connectEcho } from './echo-client.ts';
import { inParallel, median, type Ratio, ratio, summarise } from './stats.ts';

const IN_FLIGHT = 64;
const ROUNDS = 5;
const CALLS = 3_000;
const SEQUENTIAL = 500;

/** A call by HTTP `wait_ms`, durable writes included, against a raw relay that keeps nothing. */
export async function benchHttp(): Promise<{ ratios: Ratio[]; detail: object }> {
  const relay = await startChild('raw-relay.ts');
  const callboard = await startCallboard();
  const relayPort = portOf(relay.ready);
  const [rawClient, ourClient] = [
    await connectEcho(`ws://127.0.0.1:${relayPort}`),
    await connectEcho(`${callboard.url.replace('http', 'ws')}/ws/client`, callboard.token),
  ];
  const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT });
  const body = JSON.stringify({
    run_id: 'run_bench',
    args: { n: 1, text: 'x'.repeat(100) },
    wait_ms: 10_000,
  });
  const raw = () => post(agent, { port: relayPort, path: '/', body });
  const ours = () =>
    post(agent, {
      port: Number(new URL(callboard.url).port),
      path: '/v1/tools/echo/invoke',
      body,
      token: callboard.token,
    });
  const measure = async () => ({
    rawAlone: summarise((await inParallel(SEQUENTIAL, 1, raw)).times),
    oursAlone: summarise((await inParallel(SEQUENTIAL, 1, ours)).times),
    rawMany: await inParallel(CALLS, IN_FLIGHT, raw),
    oursMany: await inParallel(CALLS, IN_FLIGHT, ours),
  });
  try {
    for (const work of [raw, ours]) await inParallel(CALLS, IN_FLIGHT, work);
    const rounds: Awaited<ReturnType<typeof measure>>[] = [];
    // In turn, so that a machine that slows down slows both.
    for (let round = 0; round < ROUNDS; round++) {
      rounds.push(await measure());
    }
    const p50 = (of: 'rawAlone' | 'oursAlone') => median(rounds.map((one) => one[of].p50));
    const p99 = (of: 'rawAlone' | 'oursAlone') => median(rounds.map((one) => one[of].p99));
    const rate = (of: 'rawMany' | 'oursMany') => median(rounds.map((one) => one[of].perSecond));
    const busy = (of: 'rawMany' | 'oursMany') =>
      median(rounds.map((one) => summarise(one[of].times).p50));
    return {
      ratios: [
        ratio('HTTP invoke and wait, p50, one at a time', 'ms', p50('oursAlone'), p50('rawAlone'), {
          atMost: 2,
        }),
        ratio(
          'HTTP invoke and wait, throughput, 64 in flight',
          'calls/s',
          rate('oursMany'),
          rate('rawMany'),
          {
            atLeast: 0.35,
          },
        ),
      ],
      detail: {
        raw: { p50: p50('rawAlone'), p99: p99('rawAlone'), busyP50: busy('rawMany') },
        ours: { p50: p50('oursAlone'), p99: p99('oursAlone'), busyP50: busy('oursMany') },
      },
    };
  } finally {
    agent.destroy();
    rawClient.close();
    ourClient.close();
    await relay.stop();
    await callboard.stop();
  }
}

const portOf = (ready: unknown): number => (ready as { port: number }).port;

function post(
  agent: Agent,
  options: { port: number; path: string; body: string; token?: string },
): Promise<void> {
  const { port, path, body, token } = options;
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
