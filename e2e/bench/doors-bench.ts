import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { post } from '../contract/kit/ask.ts';
import { finalCall, invoke } from '../contract/kit/calls.ts';
import { openPairing, pairDevice } from '../contract/kit/devices.ts';
import { connectClient, reader, type ToolClient } from '../contract/kit/tool-client.ts';
import { type Callboard, startCallboard } from '../start-callboard.ts';
import { inParallel, type Ratio, ratio, round, summarise } from './stats.ts';

const CODES = 200;
const CALLS = 50;
const SILENT = 500;
const ALPHABET = 'ABCDEFGHJKMNPQRSTVWXYZ23456789';

/** It measures what strangers and one hostile device do to a server, and to its other callers meanwhile. */
export async function benchDoors(): Promise<{ ratios: Ratio[]; detail: object }> {
  const board = await startCallboard({ args: ['--lan'], env: { CALLBOARD_HOST: '' } });
  try {
    const flood = await floodOf(board);
    const silent = await silentSockets(board);
    const codes = await guessCodes(board);
    return {
      ratios: [
        ratio(
          'A call beside a device that floods',
          'ms, p99',
          flood.beside.p99,
          flood.alone.p99,
          {},
        ),
        ratio('Silent connections that are held', 'connections', silent.held, 256, { atMost: 1 }),
        ratio('A client that gets in beside them', 'ms', silent.inMs, 1_000, { atMost: 1 }),
        ratio('Until they are gone', 'ms', silent.goneMs, 6_000, { atMost: 1 }),
      ],
      detail: { codes, flood, silent },
    };
  } finally {
    await board.remove();
  }
}

/** Codes of the right form, with one open: the audit has that it became void. */
async function guessCodes(board: Callboard) {
  await openPairing(board);
  const statuses: Record<number, number> = {};
  const { perSecond, times } = await inParallel(CODES, 64, async () => {
    const { status } = await post(
      board,
      '/api/pairing/look',
      { code: randomCode() },
      { token: null },
    );
    statuses[status] = (statuses[status] ?? 0) + 1;
  });
  const { body } = await board.http('GET', '/v1/audit?act=pairing_bruteforce');
  const isVoid = JSON.stringify(body).includes('"pairing_bruteforce"');
  return { tried: CODES, perSecond: round(perSecond, 0), statuses, isVoid, ...summarise(times) };
}

const randomCode = () =>
  Array.from({ length: 8 }, () => ALPHABET[Math.floor(Math.random() * ALPHABET.length)]).join('');

/** Calls of a client alone, and beside a device that sends offers as fast as it can. */
async function floodOf(board: Callboard) {
  const tool = reader('echo');
  const client = await connectClient(board, { tools: [tool] });
  const alone = summarise(await callsOf(board, client));
  const { board: own } = await pairDevice(board, [reader('torch')]);
  const device = await connectClient(own, {});
  let sent = 0;
  const began = performance.now();
  const closed = device.closed.then(({ code }) => ({ code, ms: performance.now() - began }));
  const flooding = (async () => {
    while (device.ws.readyState === device.ws.OPEN) {
      for (let at = 0; at < 100; at += 1) {
        device.send({ type: 'probe', nonce: String(sent) });
        sent += 1;
      }
      await new Promise(setImmediate);
    }
  })();
  const beside = summarise(await callsOf(board, client));
  await flooding;
  const { code, ms } = await closed;
  await client.close();
  return { alone, beside, sent, code, closedMs: round(ms, 0) };
}

async function callsOf(board: Callboard, client: ToolClient): Promise<number[]> {
  const times: number[] = [];
  for (let at = 0; at < CALLS; at += 1) {
    const began = performance.now();
    const id = await invoke(board, 'echo');
    const asked = await client.request();
    client.succeed(asked.id, at);
    await finalCall(board, id);
    times.push(performance.now() - began);
  }
  return times;
}

/** Connections that send nothing. */
async function silentSockets(board: Callboard) {
  const ca = await readFile(join(board.dataDir, 'tls', 'ca.crt'), 'utf8');
  const port = Number(new URL(board.url).port);
  const sockets = await Promise.all(
    Array.from({ length: SILENT }, async () => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      socket.resume();
      await once(socket, 'connect');
      return socket;
    }),
  );
  const began = performance.now();
  const asking = request({ host: '127.0.0.1', port, ca, path: '/healthz', agent: false });
  asking.end();
  const [response] = await once(asking, 'response');
  response.resume();
  const inMs = performance.now() - began;
  const held = openOf(sockets);
  await Promise.all(sockets.map((socket) => (socket.closed ? undefined : once(socket, 'close'))));
  return {
    opened: SILENT,
    held,
    inMs: round(inMs, 1),
    goneMs: round(performance.now() - began, 0),
  };
}

const openOf = (sockets: readonly Socket[]) => sockets.filter(({ closed }) => !closed).length;
