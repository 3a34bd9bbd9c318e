import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { type Callboard, startCallboard } from '../start-callboard.ts';
import { connectEcho } from './echo-client.ts';
import { post } from './http-calls.ts';
import { ARGS, TOOL_OF } from './kinds.ts';
import { startProbe } from './probe.ts';
import { atMost, inParallel, type Ratio, round } from './stats.ts';

const MIB = 1024 * 1024;
const LARGE_TOOL = 'large';
const CALLS = 200_000;
const WATCHERS = 10;
const HUGE = { count: 500, bytes: 8 * MIB - 1024, inFlight: 4 } as const;

/** It measures the server's memory after many calls with watchers, and under results of 8 MiB, and how long these stop it. */
export async function benchMemory(): Promise<{ ratios: Ratio[]; detail: object }> {
  const many = await withServer(afterMany);
  const huge = await withServer(underHuge);
  return {
    ratios: [
      atMost(
        `Memory: ${CALLS} calls with ${WATCHERS} watchers`,
        'MiB',
        many.after,
        many.before,
        400,
      ),
      atMost(`Memory: ${HUGE.count} results of 8 MiB, most`, 'MiB', huge.most, huge.before, 355),
      atMost('Stall: the longest of them', 'ms', huge.stall, huge.quiet, 100),
    ],
    detail: { many, huge },
  };
}

async function withServer<Found>(work: (callboard: Callboard) => Promise<Found>): Promise<Found> {
  const callboard = await startCallboard();
  try {
    return await work(callboard);
  } finally {
    await callboard.remove();
  }
}

async function afterMany(callboard: Callboard) {
  const url = callboard.url.replace('http', 'ws');
  const { token } = callboard;
  const client = await connectEcho(`${url}/ws/client`, { kind: 'plain', token });
  const headers = { authorization: `Bearer ${token}` };
  const watchers = Array.from({ length: WATCHERS }, () => {
    const socket = new WebSocket(`${url}/ws/watch`, { headers });
    socket.on('open', () => socket.send('{"type":"watch"}'));
    return socket;
  });
  await Promise.all(watchers.map((socket) => once(socket, 'message')));
  const before = await residentMiB(callboard);
  await invoke(callboard, TOOL_OF.plain, CALLS, 64);
  const after = await residentMiB(callboard);
  client.close();
  for (const socket of watchers) socket.terminate();
  return { before, after };
}

async function underHuge(callboard: Callboard) {
  const { token } = callboard;
  const output = { text: 'x'.repeat(HUGE.bytes) };
  const client = await connectEcho(`${callboard.url.replace('http', 'ws')}/ws/client`, {
    ...{ kind: 'plain', token, large: { name: LARGE_TOOL, output } },
  });
  const before = await residentMiB(callboard);
  const probe = await startProbe(callboard);
  await sleep(2_000);
  const quiet = await probe.longest();
  await invoke(callboard, LARGE_TOOL, HUGE.count, HUGE.inFlight);
  const most = await residentMiB(callboard, 'VmHWM');
  const stall = await probe.longest();
  await probe.stop();
  client.close();
  return { before, most, quiet, stall };
}

async function invoke({ url, token }: Callboard, tool: string, count: number, inFlight: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight });
  const body = JSON.stringify({ run_id: 'run_bench', args: ARGS, wait_ms: 60_000 });
  const asked = { port: Number(new URL(url).port), path: `/v1/tools/${tool}/invoke`, token, body };
  await inParallel(count, inFlight, () => post(agent, asked));
  agent.destroy();
}

/** Now, or the most that it ever was; Linux counts it. */
async function residentMiB({ pid }: Callboard, which: 'VmRSS' | 'VmHWM' = 'VmRSS') {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const [, kib] = new RegExp(`^${which}:\\s+(\\d+)`, 'm').exec(status) ?? [];
  return round(Number(kib) / 1024, 0);
}
