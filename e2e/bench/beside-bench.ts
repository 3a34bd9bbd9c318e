import { Agent } from 'node:http';
import { pageHeaders, signIn } from '../contract/kit/sign-in.ts';
import { startCallboard } from '../start-callboard.ts';
import { startChild } from './child.ts';
import { connectEcho } from './echo-client.ts';
import { post } from './http-calls.ts';
import { ARGS, BARRIERS, LARGE_TEXT, LARGE_TOOL, type Run, TOOL_OF } from './kinds.ts';
import { mcpCall } from './mcp-bench.ts';
import { inParallel, median, type Ratio, ratio, round, summarise } from './stats.ts';

const WARM_UP = { small: 10_000, large: 500 } as const;
const ROUNDS = 5;
const IN_FLIGHT = 64;
/** Calls of a round. */
const COUNTS = { small: 2_000, large: 500, one: 500 } as const;
/** A call from a page may take so much longer than one by a program, which has no session to look up. */
const PAGE_MS = 0.05;

/**
 * Calls of a plain tool by HTTP: beside a relay that waits for the disk as often, beside a relay that
 * is built of the SDK of MCP and keeps nothing, and from a page beside those of a program.
 */
export async function benchBeside(): Promise<{ ratios: Ratio[]; detail: object }> {
  const { runs, close } = await openAll();
  try {
    for (const name of ['plain', 'page', 'mcp', 'raw'] as const) {
      await runs[name](WARM_UP.small, IN_FLIGHT);
    }
    for (const name of ['large', 'mcpLarge'] as const) await runs[name](WARM_UP.large, IN_FLIGHT);
    return await compare(runs);
  } finally {
    await close();
  }
}

type Runs = Readonly<Record<'plain' | 'page' | 'large' | 'raw' | 'mcp' | 'mcpLarge', Run>>;

async function openAll(): Promise<{ runs: Runs; close(): Promise<void> }> {
  const raw = await startChild('raw-relay.ts');
  const tools = await startChild('mcp-documented.ts');
  const relay = await startChild('mcp-relay.ts', [String(portOf(tools))]);
  const callboard = await startCallboard();
  const { token } = callboard;
  const url = `${callboard.url.replace('http', 'ws')}/ws/client`;
  const large = { name: LARGE_TOOL, output: { text: LARGE_TEXT } };
  const clients = [
    await connectEcho(`ws://127.0.0.1:${portOf(raw)}`),
    await connectEcho(url, { kind: 'plain', token }),
    await connectEcho(url, { kind: 'plain', token, large }),
  ];
  const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT });
  const to =
    (options: Parameters<typeof post>[1]): Run =>
    (count, inFlight) =>
      inParallel(count, inFlight, () => post(agent, options));
  const body = JSON.stringify({ run_id: 'run_bench', args: ARGS, wait_ms: 30_000 });
  const port = Number(new URL(callboard.url).port);
  const ours = (tool: string) => ({ port, path: `/v1/tools/${tool}/invoke`, body });
  const sdk = (tool: string) => to({ port: portOf(relay), path: '/mcp', ...mcpCall(tool) });
  const headers = pageHeaders(callboard, await signIn(callboard));
  return {
    runs: {
      plain: to({ ...ours(TOOL_OF.plain), token }),
      page: to({ ...ours(TOOL_OF.plain), headers }),
      large: to({ ...ours(LARGE_TOOL), token }),
      raw: to({ port: portOf(raw), path: `/${BARRIERS['raw, 2 fsyncs']}`, body }),
      mcp: sdk('echo'),
      mcpLarge: sdk('large'),
    },
    async close() {
      agent.destroy();
      for (const client of clients) client.close();
      for (const child of [raw, relay, tools]) await child.stop();
      await callboard.remove();
    },
  };
}

const portOf = ({ ready }: { ready: unknown }) => (ready as { port: number }).port;

async function compare(runs: Runs) {
  const rates = { plain: [], raw: [], mcp: [], large: [], mcpLarge: [] } as Record<
    Exclude<keyof Runs, 'page'>,
    number[]
  >;
  const p50 = { plain: [] as number[], page: [] as number[] };
  // In turn, so that a machine that slows down slows all of them.
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    for (const name of ['plain', 'raw', 'mcp'] as const) {
      rates[name].push((await runs[name](COUNTS.small, IN_FLIGHT)).perSecond);
    }
    for (const name of ['large', 'mcpLarge'] as const) {
      rates[name].push((await runs[name](COUNTS.large, IN_FLIGHT)).perSecond);
    }
    for (const name of ['plain', 'page'] as const) {
      p50[name].push(summarise((await runs[name](COUNTS.one, 1)).times).p50);
    }
  }
  const rate = (name: keyof typeof rates) => median(rates[name]);
  const [page, plain] = [median(p50.page), median(p50.plain)];
  const row = (what: string, ours: number, theirs: number, atLeast: number) =>
    ratio(`http, ${IN_FLIGHT} in flight: ${what}`, 'calls/s', ours, theirs, { atLeast });
  return {
    ratios: [
      row('plain, perSecond beside raw, 2 fsyncs', rate('plain'), rate('raw'), 0.45),
      row('plain, perSecond beside a relay of the MCP SDK', rate('plain'), rate('mcp'), 6),
      row(
        'a result of 64 KiB, perSecond beside a relay of the MCP SDK',
        rate('large'),
        rate('mcpLarge'),
        2,
      ),
      {
        ...ratio('http, 1 in flight: p50 from a page beside one by token', 'ms', page, plain, {}),
        target: `+${PAGE_MS} ms`,
        met: round(page - plain) <= PAGE_MS,
      },
    ],
    detail: { rates, p50 },
  };
}
