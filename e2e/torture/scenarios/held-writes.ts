import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createScriptedOpenAI } from '../../../server/testing/scripted-openai.ts';
import { openWorker, type RawWorker, reopenWorker } from '../net/raw-worker.ts';
import { inRig, metric, type Rig } from '../net/rig.ts';
import type { Played, Scenario } from '../scenario.ts';
import { checkRuns } from '../world/check-runs.ts';
import { createGate, type Gate, gatePatches } from '../world/gate.ts';
import { PATIENCE_MS, until } from '../world/until.ts';
import {
  appendBeside,
  failGranted,
  killInGroup,
  killWhileIndexing,
  overtake,
} from './half-writes.ts';

/** A server that does not wait for the disk needs so long to be gone. */
const GONE_MS = 2_000;
/** Requests, one after another: what was sent before the first has come by the last. */
const ROUND_TRIPS = 5;

/**
 * The disk is held back, and everything is asked for that has to wait for it: a call, a grant, an
 * acknowledgement, news. Then the server is killed, or the disk fails, or a cancel comes, or SIGTERM.
 * What was said by then has to be true afterwards.
 */
export const heldWrites: Scenario = {
  id: 'F01b',
  name: 'kill -9, an I/O error, a cancel, another writer and a stop while the disk holds back what was decided',
  inShort: true,
  patches: gatePatches,
  async run(context) {
    const gate = createGate(await context.tempDir());
    const policy = { ask: ['effect_overtaken_*'] };
    const model = await createScriptedOpenAI({
      script({ body, toolResults }) {
        if (toolResults.length > 0) return { text: 'Done.' };
        const name = /effect_run_\d+/.exec(JSON.stringify(body.input))?.[0] ?? '';
        return { calls: [{ name, args: {} }] };
      },
    });
    const env = {
      ...gate.env,
      CALLBOARD_MODEL: 'openai:gpt-5-scripted',
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'sk-scripted',
    };
    const rounds = context.rounds({ full: 10, short: 1 });
    try {
      return await inRig(context, (rig) => play(rig, gate, rounds), { env, policy });
    } finally {
      await model.close();
    }
  },
};

async function play(rig: Rig, gate: Gate, rounds: number): Promise<Played> {
  const runIds = new Set<string>();
  for (let round = 0; round < rounds; round += 1) {
    await killWhileHeld(rig, gate, round, runIds);
    await cancelWhileHeld(rig, gate, round);
    await killInGroup(rig, gate, `half-${round}`);
    await killWhileIndexing(rig, gate, round);
    await overtake(rig, gate, `effect_overtaken_${round}`);
    await appendBeside(rig, `effect_overtaken_beside_${round}`);
    await failGranted(rig, gate, `effect_failed_${round}`);
    await failAccepting(rig, gate, round);
  }
  const { figures, records } = await rig.rest({ withinMs: PATIENCE_MS, areAnswersNamed: false });
  await rig.api.untilRunsEnd(runIds);
  await checkRuns(rig.api, runIds, records, rig.bad);
  await stopWhileHeld(rig, gate);
  return {
    figures: { ...figures, rounds, runs: runIds.size },
    summary: `${rounds} × the disk held back under a call, a grant, an answer, a cancel, half a group, another writer, an error and a stop: ${figures.calls} calls, ${figures.succeeded} succeeded, nothing said that was not so afterwards`,
  };
}

/** A key of its own for each call, so that asking again gives the same call. */
const mustAsk = ({ api }: Rig, tool: string, key: string): Promise<string> =>
  api.invoke(tool, { key, run_id: `run_${key}`, timeout_ms: PATIENCE_MS });

async function settle({ api }: Rig, workers: readonly RawWorker[]): Promise<void> {
  for (let trip = 0; trip < ROUND_TRIPS; trip += 1) {
    await api.ask('GET', '/healthz');
    await Promise.all(workers.map((worker) => worker.settled()));
  }
}

async function killWhileHeld(
  rig: Rig,
  gate: Gate,
  round: number,
  runIds: Set<string>,
): Promise<void> {
  const [idle, asked, busy, running] = await Promise.all(
    ['idle', 'asked', 'busy', 'run'].map((kind) => openWorker(rig, `effect_${kind}_${round}`)),
  );
  if (!idle || !asked || !busy || !running) throw new Error('four workers were opened');
  // On disk: one call offered, one granted, one of a run granted.
  await mustAsk(rig, idle.tool, `before-${round}`);
  await idle.request();
  await mustAsk(rig, asked.tool, `claimed-${round}`);
  const offer = await asked.request();
  await mustAsk(rig, busy.tool, `answered-${round}`);
  const done = await busy.claim(await busy.request());
  busy.act(done.id);
  const { tool } = running;
  runIds.add(await rig.api.startRun({ input: `Use ${tool}`, tools: [tool] }));
  const own = await running.claim(await running.request());
  running.act(own.id);

  gate.holdWrites('');
  const accepted = rig.api.tryInvoke(idle.tool, `new-${round}`, { timeout_ms: PATIENCE_MS });
  asked.send({ type: 'tool_call_claim', id: offer.id, attempt: offer.attempt });
  busy.answer(done.id, done.attempt);
  await gate.reached();
  await settle(rig, [idle, asked, busy]);
  if (asked.got('tool_call_granted', offer.id)) asked.act(offer.id);
  const isAcknowledged = busy.got('result_acknowledged', done.id) !== undefined;
  await rig.board.stop('SIGKILL');
  await accepted;
  gate.open();
  await rig.startAgain();

  // An acknowledged answer is the end of its call, and its client has forgotten it.
  if (isAcknowledged) await stands(rig, done.id);
  const withDone = (id: string, attempt: number) => ({ known: [{ id, attempt, phase: 'done' }] });
  const back = await Promise.all([
    reopenWorker(rig, idle, { known: [] }),
    // Its journal is lost: the record alone says whether it was granted.
    reopenWorker(rig, asked, { known: [], journal_epoch: `${asked.tool}-new` }),
    reopenWorker(rig, busy, isAcknowledged ? { known: [] } : withDone(done.id, done.attempt)),
    reopenWorker(rig, running, withDone(own.id, own.attempt)),
  ]);
  await mustAsk(rig, idle.tool, `before-${round}`);
  await mustAsk(rig, idle.tool, `new-${round}`);
  for (const worker of back) worker.serve();
  if (!isAcknowledged) back[2].answer(done.id, done.attempt);
  back[3].answer(own.id, own.attempt);
  await until(async () => (await rig.api.open()).length === 0, PATIENCE_MS, 20);
  await Promise.all(back.map((worker) => worker.close()));
}

async function stands({ api, bad }: Rig, id: string): Promise<void> {
  const status = (await api.tryRead(id))?.status ?? 'gone';
  if (status !== 'SUCCEEDED')
    bad('I2', `${id}: its answer was acknowledged, and after a kill the call is ${status}`);
}

/**
 * The call is offered again, claimed and granted, and none of that is on disk: a
 * cancel that comes now is the end, and it has not run.
 */
async function cancelWhileHeld(rig: Rig, gate: Gate, round: number): Promise<void> {
  const { api } = rig;
  const openCalls = () => metric(rig, 'open_calls');
  const tool = `effect_cancelled_${round}`;
  const first = await openWorker(rig, tool);
  const id = await mustAsk(rig, tool, `cancelled-${round}`);
  await first.request();
  await first.vanish();
  await until(async () => (await api.read(id)).card.clock?.name === 'resume', PATIENCE_MS, 20);
  gate.holdWrites(id);
  const worker = await openWorker(rig, tool, { instance_id: `${tool}-2`, client_id: `${tool}-2` });
  const { attempt } = await worker.request();
  await gate.reached();
  worker.send({ type: 'tool_call_claim', id, attempt });
  await settle(rig, [worker]);
  const before = await openCalls();
  const cancelled = api.cancel(id);
  // Decided, and not written: only the count of open calls shows it.
  await until(async () => (await openCalls()) < before, 3_000, 20);
  gate.open();
  await cancelled;
  const { error } = await api.end(id, 20_000);
  await worker.settled();
  const isGranted = worker.got('tool_call_granted', id) !== undefined;
  await worker.close();
  if (!isGranted && error?.code === 'cancelled' && error.executed === 'no') return;
  const detail = `${id} was cancelled before its grant had left (granted: ${isGranted}) and ended ${JSON.stringify(error)}`;
  rig.bad('I7', detail);
}

/** The write of a new call fails: its caller is refused, or the call is there after a start. */
async function failAccepting(rig: Rig, gate: Gate, round: number): Promise<void> {
  const key = `failed-${round}`;
  gate.failWrites(key);
  await rig.api.tryInvoke('calculation.eval', key, { args: { expression: '6*7' } });
  await gate.reached();
  await rig.board.stop('SIGKILL');
  gate.open();
  await rig.startAgain();
}

/** SIGTERM while a grant waits for the disk: the server ends when it is written, and not before. */
async function stopWhileHeld(rig: Rig, gate: Gate): Promise<void> {
  const worker = await openWorker(rig, 'effect_stopped');
  const id = await mustAsk(rig, worker.tool, 'stopped');
  const { attempt } = await worker.request();
  gate.holdWrites(id);
  worker.send({ type: 'tool_call_claim', id, attempt });
  await gate.reached();
  process.kill(rig.board.pid, 'SIGTERM');
  if (!(await until(() => gate.isClosing))) throw new Error('SIGTERM changed nothing');
  const ended = rig.board.stop('SIGTERM');
  const early = await Promise.race([ended, sleep(GONE_MS, 'waits' as const)]);
  gate.open();
  const code = await ended;
  const bad = (detail: string) => rig.bad('HEALTH', `SIGTERM: ${detail}`);
  if (early !== 'waits') return bad(`it ended with ${code} before ${id} was on disk`);
  if (code !== 0) return bad(`exit ${code}: ${rig.board.log().slice(-600)}`);
  if (existsSync(join(rig.board.dataDir, 'callboard.db-wal')))
    bad(`exit ${code}, and the record was not closed: its log is left`);
}
