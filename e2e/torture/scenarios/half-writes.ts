import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { callEventsPageSchema, callsPageSchema } from '#lib/protocol/rest';
import { rowChecksum } from '../../../server/store/row-checksum.ts';
import { openWorker, reopenWorker } from '../net/raw-worker.ts';
import type { Rig } from '../net/rig.ts';
import type { Gate } from '../world/gate.ts';
import { PATIENCE_MS, until } from '../world/until.ts';

const SUM = { args: { expression: '6*7' }, timeout_ms: PATIENCE_MS };

/** Killed when the first step of a group is made: the call and its key are there, or neither. */
export async function killInGroup(rig: Rig, gate: Gate, key: string): Promise<void> {
  const invoke = () => rig.api.tryInvoke('calculation.eval', key, SUM);
  gate.holdHalf(key);
  const asked = invoke();
  await gate.reached();
  await rig.board.stop('SIGKILL');
  await asked;
  gate.open();
  await rig.startAgain();
  const isMade = (await ofRun(rig, `run_${key}`)).length > 0;
  await invoke();
  const made = await ofRun(rig, `run_${key}`);
  if (made.length === 1) return;
  const detail = `after a kill in the middle of its write ${isMade ? 'the call was there, and' : 'no call was there, and'} its key gives ${made.length} calls: ${made.join(', ')}`;
  rig.bad('I15', detail);
}

const listOf = async ({ api }: Rig, query: string): Promise<string[]> => {
  const { body } = await api.must('GET', `/v1/tool_calls?${query}`);
  return callsPageSchema.parse(body).tool_calls.map(({ tool_call_id: id }) => id);
};
const ofRun = (rig: Rig, runId: string) => listOf(rig, `run_id=${runId}`);

/** Killed when what follows from the end of a call is about to be made: after the start it is listed, and found by its words. */
export async function killWhileIndexing(rig: Rig, gate: Gate, round: number): Promise<void> {
  gate.holdIndexing();
  const [word, key] = [`${700_000 + round}`, `indexed-${round}`];
  const asked = { args: { expression: `6*7+${word}` }, run_id: `run_${key}`, wait_ms: 20_000 };
  const id = await rig.api.invoke('calculation.eval', { key, ...asked });
  await gate.reached();
  await rig.board.stop('SIGKILL');
  gate.open();
  await rig.startAgain();
  const isFound = (await listOf(rig, `q=${word}`)).includes(id);
  const isListed = (await ofRun(rig, `run_${key}`)).includes(id);
  if (isFound && isListed) return;
  const detail = `${id} ended before a kill; after it, it is ${isListed ? '' : 'not '}listed, and ${isFound ? '' : 'not '}found by ${word}`;
  rig.bad('I15', detail);
}

/**
 * A grant has left and its write fails: the tool runs, and what its client says then is not heard by a
 * server that does not know what is on disk. The client keeps it, and the next start hears it.
 */
export async function failGranted(rig: Rig, gate: Gate, tool: string): Promise<void> {
  const worker = await openWorker(rig, tool);
  const id = await invokeKeyed(rig, tool);
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
  await rig.api.end(id, 20_000);
  await back.close();
  const acted = rig.effects.get(id)?.length ?? 0;
  if (acted === 1) return;
  const detail = `${id}: its grant left (${granted !== undefined}) before its write failed, and it was done ${acted} times`;
  rig.bad('I5', detail);
}

/**
 * A yes, and the offer that follows it, come after another writer's event: the store refuses them.
 * Its client, which would run what it is asked, is asked nothing; a no is the end.
 */
export async function overtake(rig: Rig, gate: Gate, tool: string): Promise<void> {
  const worker = await openWorker(rig, tool, { caps: [] });
  const id = await invokeKeyed(rig, tool);
  const decide = (decision: 'yes' | 'no') =>
    rig.api.ask('POST', `/v1/tool_calls/${id}/approval`, { body: { decision } });
  gate.overtake(tool);
  await decide('yes');
  await gate.reached();
  await worker.settled();
  if (worker.got('tool_call_request', id)) worker.act(id);
  await until(async () => (await decide('no'))?.status === 200, PATIENCE_MS, 20);
  await worker.close();
  if (rig.effects.has(id))
    rig.bad('I7', `${id} was denied, and its client had been asked to run it`);
}

/**
 * Another process has appended to the log of a call that is open here: what is decided now fails, and
 * the row of the other one stays. After a start it is a part of the call.
 */
export async function appendBeside(rig: Rig, tool: string): Promise<void> {
  const worker = await openWorker(rig, tool);
  const id = await invokeKeyed(rig, tool);
  const cancel = () => rig.api.cancel(id);
  const version = ((await eventsOf(rig, id)).at(-1)?.version ?? 0) + 1;
  const isListed = (await ofRun(rig, `run_${tool}`)).includes(id);
  insertRow(rig, id, version);
  const answer = await cancel();
  await rig.killAndStart();
  const events = await eventsOf(rig, id);
  const there = events.find((event) => event.version === version);
  await cancel();
  await worker.close();
  if (!isListed) return rig.bad('I1', `${id} was open, and in no list`);
  if (there?.actor === OTHER) return;
  const detail = `${id} was appended to by another process, and ${there?.type} by ${there?.actor} is in the place of that; who wrote it was told ${answer?.status}`;
  rig.bad('I15', detail);
}

const OTHER = 'hook:other';

const invokeKeyed = ({ api }: Rig, tool: string) =>
  api.invoke(tool, { key: tool, run_id: `run_${tool}`, timeout_ms: PATIENCE_MS });

async function eventsOf({ api }: Rig, id: string) {
  const { body } = await api.must('GET', `/v1/tool_calls/${id}/events`);
  return callEventsPageSchema.parse(body).events;
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
