import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { post } from '../contract/kit/ask.ts';
import { asToken, makeToken } from '../contract/kit/tokens.ts';
import { connectClient, reader } from '../contract/kit/tool-client.ts';
import { type Callboard, startCallboard } from '../start-callboard.ts';
import { startProbe } from './probe.ts';
import { atMost, type Ratio } from './stats.ts';

const MIB = 1024 * 1024;
/** Milliseconds that one input may hold up everybody else. */
const SMALL_LIMIT = 50;
const LARGE_LIMIT = 300;
const TIMES = 3;

type Send = (callboard: Callboard) => Promise<unknown>;

const valuesOf = (count: number) => Array.from({ length: count }, (_, at) => ({ at }));

const namesOf = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`name_${at}`, at]));

const lookalikes = () =>
  '-----BEGIN PRIVATE KEY-----AAAA. a.eyJaaaaaaaaaaaaaa sk- '.repeat(MIB / 57);

const attachment = (bytes: number) => [
  { media_type: 'application/octet-stream', data: Buffer.alloc(bytes, 7).toString('base64') },
];

/** Inputs as large, or as odd, as a door takes them. */
const INPUTS: readonly (readonly [name: string, limit: number, send: Send])[] = [
  ['a result of one text, 1 MiB', SMALL_LIMIT, answerWith('x'.repeat(MIB))],
  ['a result of 90,000 values, 1 MiB', SMALL_LIMIT, answerWith(valuesOf(90_000))],
  ['a result of 60,000 names, 1 MiB', SMALL_LIMIT, answerWith(namesOf(60_000))],
  ['arguments of 12,000 names by HTTP', SMALL_LIMIT, invokeWith(namesOf(12_000), 200)],
  ['arguments of 45,000 names by HTTP', SMALL_LIMIT, invokeWith(namesOf(45_000), 413)],
  ['arguments of 45,000 names by MCP', SMALL_LIMIT, callByMcp(namesOf(45_000))],
  ['a result that looks like keys, 1 MiB', SMALL_LIMIT, answerWith(lookalikes())],
  ['12,000 secret arguments and 1 MiB', SMALL_LIMIT, secretAnswer()],
  ['a frame of 16 MiB', LARGE_LIMIT, answerWith('x'.repeat(7 * MIB), attachment(6 * MIB))],
  ['a file of JSON, 11 MiB', LARGE_LIMIT, uploadOf(`[${'1,'.repeat(5.5 * MIB)}1]`)],
  [
    'a message of 95,000 characters',
    SMALL_LIMIT,
    (board) => messageOf(board, 'word '.repeat(19_000)),
  ],
  ['20,000 lines of run_code', SMALL_LIMIT, runLines()],
];

/**
 * How long one input holds up everybody else: the longest answer of `/healthz`, which is asked for
 * again and again meanwhile. The baseline is the longest of the same time without the input.
 */
export async function benchStalls(): Promise<{ ratios: Ratio[]; detail: object }> {
  const callboard = await startCallboard({ env: { CALLBOARD_CONFIG: await configuration() } });
  try {
    const rows: Ratio[] = [];
    for (const [name, limit, send] of INPUTS) {
      await send(callboard);
      let ours = Infinity;
      let raw = Infinity;
      for (let time = 0; time < TIMES; time += 1) {
        const begun = performance.now();
        ours = Math.min(ours, await longestStall(callboard, () => send(callboard)));
        const ms = performance.now() - begun;
        raw = Math.min(raw, await longestStall(callboard, () => pause(ms)));
      }
      rows.push(atMost(`Stall: ${name}`, 'ms', ours, raw, limit));
    }
    return { ratios: rows, detail: {} };
  } finally {
    await callboard.remove();
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function longestStall(board: Callboard, during: () => Promise<unknown>): Promise<number> {
  const probe = await startProbe(board);
  try {
    await during();
    return await probe.longest();
  } finally {
    await probe.stop();
  }
}

async function configuration(): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'callboard-bench-')), 'callboard.config.json');
  await writeFile(file, JSON.stringify({ tools: { run_code: {} } }), { mode: 0o600 });
  return file;
}

/** A call whose client answers it with this. */
function answerWith(output: unknown, attachments?: readonly object[]): Send {
  return (callboard) => callOf(callboard, { parameters: { type: 'object' } }, output, attachments);
}

/** A call with many secret arguments, whose answer is looked through for each of them. */
function secretAnswer(): Send {
  const secret = { type: 'array', items: { type: 'string' }, 'x-sensitive': true };
  const parameters = { type: 'object', properties: { secrets: secret } };
  const secrets = Array.from({ length: 12_000 }, (_, at) => `secret-${at}`);
  const text = 'Some words of an answer. '.repeat(MIB / 25);
  return (callboard) => callOf(callboard, { parameters, args: { secrets } }, text);
}

async function callOf(
  callboard: Callboard,
  { parameters, args = {} }: { parameters: object; args?: object },
  output: unknown,
  attachments?: readonly object[],
) {
  const client = await connectClient(callboard, { tools: [reader('heavy', { parameters })] });
  const body = { run_id: 'run_bench', args, wait_ms: 60_000 };
  const calling = callboard.http('POST', '/v1/tools/heavy/invoke', body);
  client.succeed((await client.request()).id, output, { attachments });
  const called = await calling;
  if (called.status !== 200) throw new Error(`The call gave ${JSON.stringify(called.body)}`);
  await client.next('result_acknowledged');
  await client.vanish();
}

function uploadOf(text: string): Send {
  const data = Buffer.from(text).toString('base64');
  return async (callboard) => {
    const body = { media_type: 'application/json', data };
    const answer = await callboard.http('POST', '/v1/blobs', body);
    if (answer.status >= 300) throw new Error(`The upload gave ${JSON.stringify(answer.body)}`);
  };
}

function invokeWith(args: object, status: number): Send {
  return async (callboard) => {
    const body = { run_id: 'run_bench', args: { query: 'Oslo', args }, wait_ms: 60_000 };
    const called = await callboard.http('POST', '/v1/tools/weather.query/invoke', body);
    if (called.status !== status) throw new Error(`The call gave ${called.status}`);
  };
}

function callByMcp(args: object): Send {
  let token: ReturnType<typeof makeToken> | undefined;
  return async (callboard) => {
    token ??= makeToken(callboard, { kind: 'agent', name: 'bench', tools: ['weather.*'] });
    const params = { name: 'weather_query', arguments: { query: 'Oslo', args } };
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    const answer = await post(asToken(callboard, await token), '/mcp', body);
    if (answer.status !== 200) throw new Error(`The call gave ${JSON.stringify(answer.body)}`);
  };
}

async function messageOf(callboard: Callboard, input: string) {
  const begun = await callboard.http('POST', '/v1/runs', { input, model: 'rehearsal' });
  if (begun.status >= 300) throw new Error(`The message gave ${JSON.stringify(begun.body)}`);
}

function runLines(): Send {
  const code = 'for (let n = 0; n < 20_000; n++) console.log(""); return 1';
  return async (callboard) => {
    const args = { code };
    const body = { run_id: 'run_bench', args, wait_ms: 60_000 };
    const called = await callboard.http('POST', '/v1/tools/run_code/invoke', body);
    if (called.status !== 200) throw new Error(`The call gave ${JSON.stringify(called.body)}`);
  };
}
