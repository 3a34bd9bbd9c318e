import { Agent } from 'node:http';
import { asToken, makeToken } from '../contract/kit/tokens.ts';
import { startCallboard } from '../start-callboard.ts';
import { startChild } from './child.ts';
import { connectEcho } from './echo-client.ts';
import { post } from './http-calls.ts';
import { ARGS, type Run, TOOL_OF } from './kinds.ts';
import { inParallel, inTurn, type Ratio, ratio } from './stats.ts';

const WARM_UP = 3_000;

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
};

/** Echo servers of the SDK, which keep nothing. The goal is of the one that its documentation shows. */
const BASELINES = {
  documented: {
    script: 'mcp-documented.ts',
    title: "the SDK's documented echo",
    goal: { atLeast: 1 },
  },
  minimal: { script: 'mcp-echo.ts', title: "the SDK's least echo (raw)", goal: {} },
} as const;
type Baseline = keyof typeof BASELINES;
const NAMES = ['documented', 'minimal'] as const satisfies readonly Baseline[];

/** A durable call by MCP (2026-07-28), to a client by WebSocket and back, beside two echoes of the SDK. */
export async function benchMcp(): Promise<{ ratios: Ratio[]; detail: object }> {
  const documented = await startChild(BASELINES.documented.script);
  const minimal = await startChild(BASELINES.minimal.script);
  const callboard = await startCallboard();
  const name = TOOL_OF['read-only'];
  const token = await makeToken(callboard, { kind: 'agent', name: 'bench', tools: [name] });
  const client = await connectEcho(`${callboard.url.replace('http', 'ws')}/ws/client`, {
    ...{ kind: 'read-only', token: callboard.token },
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const to =
    (port: number, tool: string, secret?: string): Run =>
    (count, inFlight) =>
      inParallel(count, inFlight, () =>
        post(agent, {
          ...{ port, path: '/mcp', ...(secret === undefined ? {} : { token: secret }) },
          ...mcpCall(tool),
        }),
      );
  const ours = to(Number(new URL(callboard.url).port), name, asToken(callboard, token).token);
  const echo = ({ ready }: { ready: unknown }) => to((ready as { port: number }).port, 'echo');
  const runs = { ours, documented: echo(documented), minimal: echo(minimal) };
  try {
    for (const run of Object.values(runs)) await run(WARM_UP, 64);
    return await compare(runs);
  } finally {
    agent.destroy();
    client.close();
    await documented.stop();
    await minimal.stop();
    await callboard.remove();
  }
}

/** A caller of 2026-07-28 sends these. */
const mcpCall = (name: string) => ({
  body: JSON.stringify({
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name, arguments: ARGS, _meta: ENVELOPE },
  }),
  headers: {
    ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28' },
    ...{ 'mcp-method': 'tools/call', 'mcp-name': name },
  },
});

type Who = 'ours' | Baseline;

async function compare(runs: Readonly<Record<Who, Run>>) {
  const figures = await inTurn(runs);
  const rowsBeside = (baseline: Baseline): Ratio[] => {
    const { title, goal } = BASELINES[baseline];
    const row = (inFlight: 1 | 64, figure: 'p50' | 'perSecond') =>
      ratio(
        `mcp, ${inFlight} in flight: ${figure} beside ${title}`,
        figure === 'p50' ? 'ms' : 'calls/s',
        figures.ours[inFlight][figure],
        figures[baseline][inFlight][figure],
        figure === 'p50' ? {} : goal,
      );
    return [row(1, 'p50'), row(64, 'p50'), row(64, 'perSecond')];
  };
  return { ratios: NAMES.flatMap(rowsBeside), detail: figures };
}
