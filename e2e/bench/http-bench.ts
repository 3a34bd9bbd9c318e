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
    rawAlone: await inParallel(SEQUENTIAL, 1, raw),
    oursAlone: await inParallel(SEQUENTIAL, 1, ours),
    rawMany: await inParallel(CALLS, IN_FLIGHT, raw),
    oursMany: await inParallel(CALLS, IN_FLIGHT, ours),
  });
  try {
    for (const work of [raw, ours]) await inParallel(CALLS, IN_FLIGHT, work);
    type Round = Awaited<ReturnType<typeof measure>>;
    const rounds: Round[] = [];
    // In turn, so that a machine that slows down slows both.
    for (let round = 0; round < ROUNDS; round++) {
      rounds.push(await measure());
    }
    const figures = (of: keyof Round) => ({
      p50: median(rounds.map((one) => summarise(one[of].times).p50)),
      p99: median(rounds.map((one) => summarise(one[of].times).p99)),
      perSecond: median(rounds.map((one) => one[of].perSecond)),
    });
    const [rawAlone, oursAlone] = [figures('rawAlone'), figures('oursAlone')];
    const [rawMany, oursMany] = [figures('rawMany'), figures('oursMany')];
    const name = 'HTTP invoke and wait';
    return {
      ratios: [
        ratio(`${name}: p50, 64 in flight`, 'ms', oursMany.p50, rawMany.p50, { atMost: 2 }),
        ratio(`${name}: p50, one at a time`, 'ms', oursAlone.p50, rawAlone.p50, { atMost: 2 }),
        ratio(
          `${name}: throughput, 64 in flight`,
          'calls/s',
          oursMany.perSecond,
          rawMany.perSecond,
          {
            atLeast: 0.35,
          },
        ),
      ],
      detail: { rawAlone, oursAlone, rawMany, oursMany },
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
