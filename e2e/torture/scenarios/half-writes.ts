import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { callRecordSchema } from '#lib/protocol/call-record';
import { callEventsPageSchema, callsPageSchema, invokeAcceptedSchema } from '#lib/protocol/rest';
import { rowChecksum } from '../../../server/store/row-checksum.ts';
import { openWorker, reopenWorker } from '../net/raw-worker.ts';
import { type Rig, until } from '../net/rig.ts';
import type { Violation } from '../scenario.ts';
import type { Gate } from '../world/gate.ts';

/** Events are waited for that long, on any machine. Nothing is decided by it. */
const PATIENCE_MS = 60_000;

const invoke = ({ api }: Rig, tool: string, key: string, body: object) =>
  api.ask('POST', `/v1/tools/${tool}/invoke`, {
    headers: { 'idempotency-key': key },
    body: { run_id: `run_${key}`, timeout_ms: 60_000, ...body },
  });

/** Killed when the first step of a group is made: the call and its key are there, or neither. */
export async function killInGroup(rig: Rig, gate: Gate, key: string): Promise<Violation[]> {
  gate.holdHalf(key);
  const asked = invoke(rig, 'calculation.eval', key, { args: { expression: '6*7' } });
  await gate.reached();
  await rig.board.stop('SIGKILL');
  await asked;
  gate.open();
  await rig.startAgain();
  const isMade = (await ofRun(rig, key)).length > 0;
  await invoke(rig, 'calculation.eval', key, { args: { expression: '6*7' } });
  const made = await ofRun(rig, key);
  if (made.length === 1) return [];
  const detail = `after a kill in the middle of its write ${isMade ? 'the call was there, and' : 'no call was there, and'} its key gives ${made.length} calls: ${made.join(', ')}`;
  return [{ invariant: 'I15', detail }];
}

async function ofRun({ api }: Rig, key: string): Promise<string[]> {
  const found = await api.ask('GET', `/v1/tool_calls?run_id=run_${key}`);
  return callsPageSchema.parse(found?.body).tool_calls.map(({ tool_call_id: id }) => id);
}

/** Killed when what follows from the end of a call is about to be made: after the start it is listed, and found by its words. */
export async function killWhileIndexing(rig: Rig, gate: Gate, round: number): Promise<Violation[]> {
  gate.holdIndexing();
  const word = `${700_000 + round}`;
  const body = { args: { expression: `6*7+${word}` }, wait_ms: 20_000 };
  const answer = await invoke(rig, 'calculation.eval', `indexed-${round}`, body);
  const { tool_call_id: id } = callRecordSchema.parse(answer?.body);
  await gate.reached();
  await rig.board.stop('SIGKILL');
  gate.open();
  await rig.startAgain();
  const found = await rig.api.ask('GET', `/v1/tool_calls?q=${word}`);
  const { tool_calls: calls } = callsPageSchema.parse(found?.body);
  const isFound = calls.some(({ tool_call_id }) => tool_call_id === id);
  const isListed = (await ofRun(rig, `indexed-${round}`)).includes(id);
  if (isFound && isListed) return [];
  const detail = `${id} ended before a kill; after it, it is ${isListed ? '' : 'not '}listed, and ${isFound ? '' : 'not '}found by ${word}`;
  return [{ invariant: 'I15', detail }];
}

/**
 * A grant has left and its write fails: the tool runs, and what its client says then is not heard by a
 * server that does not know what is on disk. The client keeps it, and the next start hears it.
 */
export async function failGranted(rig: Rig, gate: Gate, tool: string): Promise<Violation[]> {
  const worker = await openWorker(rig, tool);
  const asked = await invoke(rig, tool, tool, { args: { nonce: tool } });
  const { tool_call_id: id } = invokeAcceptedSchema.parse(asked?.body);
  rig.witness.accepted(id, { key: tool, tool, nonce: tool });
  const { attempt } = await worker.request();
  // Its grant waits for nothing once the offer is on disk.
  await until(async () => (await eventsOf(rig, id)).length > 1, PATIENCE_MS, 20);
  gate.failWrites(id);
  worker.send({ type: 'tool_call_claim', id, attempt });
  await gate.reached();
  const granted = worker.got('tool_call_granted', id);
  if (granted) worker.act(id);
  worker.answer(id, attempt);
  const isCut = () => worker.ws.readyState === worker.ws.CLOSED;
  await until(() => isCut() || worker.got('result_rejected', id) !== undefined, PATIENCE_MS);
  const isKept = granted && !worker.got('result_rejected', id);
  await rig.board.stop('SIGKILL');
  gate.open();
  await rig.startAgain();
  const known = isKept ? [{ id, attempt, phase: 'done' }] : [];
  const back = await reopenWorker(rig, worker, { known });
  back.serve();
  if (isKept) back.answer(id, attempt);
  await rig.api.ask('GET', `/v1/tool_calls/${id}?wait_ms=20000`);
  await back.close();
  const acted = rig.effects.get(id)?.length ?? 0;
  if (acted === 1) return [];
  const detail = `${id}: its grant left (${granted !== undefined}) before its write failed, and it was done ${acted} times`;
  return [{ invariant: 'I5', detail }];
}

/**
 * A yes, and the offer that follows it, come after another writer's event: the store refuses them.
 * Its client, which would run what it is asked, is asked nothing; a no is the end.
 */
export async function overtake(rig: Rig, gate: Gate, tool: string): Promise<Violation[]> {
  const worker = await openWorker(rig, tool, { caps: [] });
  const asked = await invoke(rig, tool, tool, { args: { nonce: tool } });
  const { tool_call_id: id } = invokeAcceptedSchema.parse(asked?.body);
  rig.witness.accepted(id, { key: tool, tool, nonce: tool });
  const decide = (decision: 'yes' | 'no') =>
    rig.api.ask('POST', `/v1/tool_calls/${id}/approval`, { body: { decision } });
  gate.overtake(tool);
  await decide('yes');
  await gate.reached();
  await worker.settled();
  if (worker.got('tool_call_request', id)) worker.act(id);
  await until(async () => (await decide('no'))?.status === 200, PATIENCE_MS, 20);
  await worker.close();
  const acted = rig.effects.has(id);
  if (!acted) return [];
  const detail = `${id} was denied, and its client had been asked to run it`;
  return [{ invariant: 'I7', detail }];
}

/**
 * Another process has appended to the log of a call that is open here: what is decided now fails, and
 * the row of the other one stays. After a start it is a part of the call.
 */
export async function appendBeside(rig: Rig, tool: string): Promise<Violation[]> {
  const worker = await openWorker(rig, tool);
  const asked = await invoke(rig, tool, tool, { args: { nonce: tool } });
  const { tool_call_id: id } = invokeAcceptedSchema.parse(asked?.body);
  const cancel = () => rig.api.ask('POST', `/v1/tool_calls/${id}/cancel`, { body: {} });
  const version = ((await eventsOf(rig, id)).at(-1)?.version ?? 0) + 1;
  const isListed = (await ofRun(rig, tool)).includes(id);
  insertRow(rig, id, version);
  const answer = await cancel();
  await rig.board.stop('SIGKILL');
  await rig.startAgain();
  const events = await eventsOf(rig, id);
  const there = events.find((event) => event.version === version);
  await cancel();
  await worker.close();
  if (!isListed) return [{ invariant: 'I1', detail: `${id} was open, and in no list` }];
  if (there?.actor === OTHER) return [];
  const detail = `${id} was appended to by another process, and ${there?.type} by ${there?.actor} is in the place of that; who wrote it was told ${answer?.status}`;
  return [{ invariant: 'I15', detail }];
}

const OTHER = 'hook:other';

async function eventsOf({ api }: Rig, id: string) {
  const answer = await api.ask('GET', `/v1/tool_calls/${id}/events`);
  return callEventsPageSchema.parse(answer?.body).events;
}

function insertRow({ board }: Rig, id: string, version: number): void {
  const database = new DatabaseSync(join(board.dataDir, 'callboard.db'));
  try {
    database.exec('PRAGMA busy_timeout=5000');
    const event = { version, type: 'extended', at: Date.now(), actor: OTHER, patch: {} };
    const events = JSON.stringify([event]);
    // Far from the places that the server gives: of the two, the version alone is the same.
    const seq = `(SELECT max(seq) FROM log) + 1000`;
    const values = `${seq}, ?, ?, 0, ?, ?`;
    database
      .prepare(`INSERT INTO log (seq, call_id, version, ends, events, checksum) VALUES (${values})`)
      .run(id, version, events, rowChecksum([id, version, 0, events]));
  } finally {
    database.close();
  }
}
