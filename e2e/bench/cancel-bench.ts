import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createScriptedOpenAI, type Script } from '../../server/testing/scripted-openai.ts';
import { get, post } from '../contract/kit/ask.ts';
import { finalCall, invoke, readCall } from '../contract/kit/calls.ts';
import { connectClient, type ToolClient } from '../contract/kit/tool-client.ts';
import { type Callboard, startCallboard } from '../start-callboard.ts';
import { type Ratio, ratio, round, summarise } from './stats.ts';

const ROUNDS = 20;
/** From the request to the end, in every phase. */
const MOST_MS = 100;
/** Reads without end, until its process is ended. */
const ENDLESS =
  'with recursive c(x) as (select 1 union all select x + 1 from c where x < 1000000000000) select count(*) from c';

/** A stop in each phase of a call and of a turn: from its request to the end of what it stops. */
export async function benchCancel(): Promise<{ ratios: Ratio[]; detail: object }> {
  const dir = await mkdtemp(join(tmpdir(), 'callboard-bench-'));
  const config = join(dir, 'callboard.config.json');
  const policy = { unknown_effects: 'allow', ask: ['gate.*'] };
  await writeFile(config, JSON.stringify({ policy }));
  const openai = await createScriptedOpenAI({ script, models: ['bench'] });
  const env = { CALLBOARD_CONFIG: config, OPENAI_BASE_URL: openai.url };
  const board = await startCallboard({ env });
  const clients: ToolClient[] = [];
  const connect = async (...tools: string[]) => {
    const client = await connectClient(board, { tools });
    clients.push(client);
    return client;
  };
  try {
    const phases = { ...callPhases(board, connect), ...turnPhases(board, connect) };
    const series = [];
    for (const [name, once] of Object.entries(phases)) {
      const times: number[] = [];
      for (let n = 0; n < ROUNDS; n += 1) times.push(await once());
      const { p50, p99 } = summarise(times);
      series.push({ name, p50: round(p50, 1), p99: round(p99, 1) });
    }
    return {
      ratios: series.map(({ name, p99 }) =>
        ratio(`A stop ${name}`, 'ms, p99', p99, MOST_MS, { atMost: 1 }),
      ),
      detail: { rounds: ROUNDS, series },
    };
  } finally {
    await Promise.all(clients.map((client) => client.close()));
    await board.remove();
    await openai.close();
    await rm(dir, { recursive: true });
  }
}

type Connect = (...tools: string[]) => Promise<ToolClient>;
type Phases = Record<string, () => Promise<number>>;

/** Milliseconds from the stop of a call until its end is read. */
async function stopCall(board: Callboard, id: string): Promise<number> {
  const begin = performance.now();
  await post(board, `/v1/tool_calls/${id}/cancel`, {});
  const { status, error } = await finalCall(board, id);
  const ms = performance.now() - begin;
  // A client that gives up says so in its own words.
  if (status !== 'FAILED') throw new Error(`${id} was stopped, and is ${status} (${error?.code})`);
  return ms;
}

async function untilPhase(board: Callboard, id: string, phase: string): Promise<void> {
  while ((await readCall(board, id)).phase !== phase) await sleep(5);
}

function callPhases(board: Callboard, connect: Connect): Phases {
  return {
    'while a person is asked': async () => {
      const client = await connect('gate.open');
      const id = await invoke(board, 'gate.open', {}, { run_id: `run_${crypto.randomUUID()}` });
      await untilPhase(board, id, 'approval');
      const ms = await stopCall(board, id);
      await client.close();
      return ms;
    },
    'while no client is there': async () => {
      const client = await connect('gate.close');
      const id = await invoke(board, 'gate.close', {}, { run_id: `run_${crypto.randomUUID()}` });
      await untilPhase(board, id, 'approval');
      await client.close();
      while ((await get(board, '/v1/tools')).text.includes('"gate.close"')) await sleep(5);
      await post(board, `/v1/tool_calls/${id}/approval`, { decision: 'yes' });
      await untilPhase(board, id, 'queued');
      return stopCall(board, id);
    },
    'while a client runs it, which gives up at once': async () => {
      const client = await connect('tide.read');
      const id = await invoke(board, 'tide.read');
      await client.request();
      void client.next('tool_call_cancel').then(() => client.fail(id, 'stopped'));
      const ms = await stopCall(board, id);
      await client.close();
      return ms;
    },
    'while the server runs it': async () => {
      const id = await invoke(board, 'database.query', { sql: ENDLESS });
      await untilPhase(board, id, 'granted');
      return stopCall(board, id);
    },
  };
}

/** What the model does in a turn, by the message of the person. */
const script: Script = ({ body }) => {
  const never = new Promise<never>(() => undefined);
  const asked = JSON.stringify(body);
  if (asked.includes('be silent')) return { text: 'x', stall: { at: 0, until: never } };
  if (asked.includes('write a call')) {
    const args = JSON.stringify({ expression: '1+1' });
    return {
      calls: [{ name: 'calculation_eval', args }],
      stall: { at: 5, until: never },
    };
  }
  if (asked.includes('call a tool')) return { calls: [{ name: 'wave_read', args: {} }] };
  return { text: 'Once upon a time', stall: { at: 8, until: never } };
};

function turnPhases(board: Callboard, connect: Connect): Phases {
  /** Milliseconds from the stop of a turn until it is answered, which is when the turn has ended. */
  const stopTurn = async (input: string, isThere: (text: string) => boolean) => {
    const started = await post(board, '/v1/runs', { input });
    const { run_id: id } = started.body as { run_id: string };
    while (!isThere((await get(board, `/v1/runs/${id}`)).text)) await sleep(5);
    const begin = performance.now();
    const stopped = await post(board, `/v1/runs/${id}/cancel`, {});
    const ms = performance.now() - begin;
    if (!stopped.text.includes('"status":"cancelled"'))
      throw new Error(`${id} was not stopped: ${stopped.text.slice(0, 300)}`);
    return ms;
  };
  return {
    'before the model answers': () => stopTurn('be silent', (text) => text.includes('assistant')),
    'while the model answers': () => stopTurn('tell', (text) => text.includes('Once')),
    'while the model writes a call': () =>
      stopTurn('write a call', (text) => text.includes('"tool_call"')),
    'of a turn while its tool runs': async () => {
      const client = await connect('wave.read');
      void client.next('tool_call_cancel').then(({ id }) => client.fail(id, 'stopped'));
      const ms = await stopTurn('call a tool', () => client.all('tool_call_request').length > 0);
      await client.close();
      return ms;
    },
  };
}
