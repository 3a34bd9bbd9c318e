import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { callRecordSchema } from '#lib/protocol/call-record';
import { createScriptedOpenAI } from '../../../server/testing/scripted-openai.ts';
import { openWorker, type RawWorker, reopenWorker } from '../net/raw-worker.ts';
import { inRig, type Rig, until } from '../net/rig.ts';
import type { Outcome, Scenario, Violation } from '../scenario.ts';
import { checkRuns } from '../world/check-runs.ts';
import { createGate, type Gate, gatePatches } from '../world/gate.ts';
import {
  appendBeside,
  failGranted,
  killInGroup,
  killWhileIndexing,
  overtake,
} from './half-writes.ts';

/** Events are waited for that long, on any machine. Nothing is decided by it. */
const PATIENCE_MS = 60_000;
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
    const dir = await context.tempDir();
    const gate = createGate(dir);
    const config = join(dir, 'config.json');
    const policy = { unknown_effects: 'allow', ask: ['effect_overtaken_*'] };
    await writeFile(config, JSON.stringify({ policy }));
    const model = await createScriptedOpenAI({
      script({ body, toolResults }) {
        if (toolResults.length > 0) return { text: 'Done.' };
        const name = /effect_run_\d+/.exec(JSON.stringify(body.input))?.[0] ?? '';
        return { calls: [{ name, args: {} }] };
      },
    });
    const env = {
      ...gate.env,
      CALLBOARD_CONFIG: config,
      CALLBOARD_MODEL: 'openai:gpt-5-scripted',
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'sk-scripted',
    };
    const rounds = context.rounds({ full: 10, short: 1 });
    try {
      return await inRig(context, (rig) => play(rig, gate, rounds), { env });
    } finally {
      await model.close();
    }
  },
};

async function play(rig: Rig, gate: Gate, rounds: number): Promise<Outcome> {
  const violations: Violation[] = [];
  const runIds = new Set<string>();
  for (let round = 0; round < rounds; round += 1) {
    violations.push(...(await killWhileHeld(rig, gate, round, runIds)));
    violations.push(...(await cancelWhileHeld(rig, gate, round)));
    violations.push(...(await killInGroup(rig, gate, `half-${round}`)));
    violations.push(...(await killWhileIndexing(rig, gate, round)));
    violations.push(...(await overtake(rig, gate, `effect_overtaken_${round}`)));
    violations.push(...(await appendBeside(rig, `effect_overtaken_beside_${round}`)));
    violations.push(...(await failGranted(rig, gate, `effect_failed_${round}`)));
    await failAccepting(rig, gate, round);
  }
  const rest = await rig.rest({ withinMs: PATIENCE_MS });
  await untilRunsEnd(rig, runIds);
  violations.push(...(await checkRuns(rig.api, runIds, rest.records)));
  violations.push(...(await stopWhileHeld(rig, gate)));
  return {
    figures: { ...rest.figures, rounds, runs: runIds.size },
    violations: [
      ...violations,
      // The clients here are no library's, which other scenarios' answers name.
      ...rest.violations.filter(({ invariant }) => invariant !== 'I11'),
    ],
    summary: `${rounds} × the disk held back under a call, a grant, an answer, a cancel, half a group, another writer, an error and a stop: ${rest.figures.calls} calls, ${rest.figures.succeeded} succeeded, nothing said that was not so afterwards`,
  };
}

/** A key of its own for each call, so that asking again gives the same call. */
async function ask(
  rig: Rig,
  tool: string,
  key: string,
  args: object = { nonce: key },
): Promise<string | undefined> {
  const answer = await rig.api.ask('POST', `/v1/tools/${tool}/invoke`, {
    headers: { 'idempotency-key': key },
    body: { run_id: `run_${key}`, args, timeout_ms: 60_000 },
  });
  if (answer?.status !== 202) return undefined;
  const { tool_call_id: id } = answer.body as { tool_call_id: string };
  rig.witness.accepted(id, { key, tool, nonce: key });
  return id;
}

/** It asks as `ask` does, of a server that takes calls. */
async function mustAsk(rig: Rig, tool: string, key: string): Promise<string> {
  const id = await ask(rig, tool, key);
  if (id === undefined) throw new Error(`${key} was not accepted`);
  return id;
}

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
): Promise<Violation[]> {
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
  runIds.add(await startRun(rig, running.tool));
  const own = await running.claim(await running.request());
  running.act(own.id);

  gate.holdWrites('');
  const accepted = ask(rig, idle.tool, `new-${round}`);
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

  const violations = isAcknowledged ? await stands(rig, done.id) : [];
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
  return violations;
}

/** An acknowledged answer is the end of its call, and its client has forgotten it. */
async function stands(rig: Rig, id: string): Promise<Violation[]> {
  const answer = await rig.api.ask('GET', `/v1/tool_calls/${id}`);
  const status = answer?.status === 200 ? callRecordSchema.parse(answer.body).status : 'gone';
  if (status === 'SUCCEEDED') return [];
  const detail = `${id}: its answer was acknowledged, and after a kill the call is ${status}`;
  return [{ invariant: 'I2', detail }];
}

async function startRun({ api }: Rig, tool: string): Promise<string> {
  const body = { input: `Use ${tool}`, tools: [tool] };
  const answer = await api.ask('POST', '/v1/runs', { body });
  if (!answer || answer.status >= 300) throw new Error(`no run: ${JSON.stringify(answer)}`);
  return (answer.body as { run_id: string }).run_id;
}

async function untilRunsEnd({ api }: Rig, runIds: ReadonlySet<string>): Promise<void> {
  const isOver = async (id: string) => {
    const answer = await api.ask('GET', `/v1/runs/${id}`);
    return (answer?.body as { status?: string })?.status !== 'running';
  };
  const all = [...runIds].map((id) => until(() => isOver(id), PATIENCE_MS, 50));
  await Promise.all(all);
}

/**
 * The call is offered again, claimed and granted, and none of that is on disk: a
 * cancel that comes now is the end, and it has not run.
 */
async function cancelWhileHeld(rig: Rig, gate: Gate, round: number): Promise<Violation[]> {
  const tool = `effect_cancelled_${round}`;
  const first = await openWorker(rig, tool);
  const id = await mustAsk(rig, tool, `cancelled-${round}`);
  await first.request();
  await first.vanish();
  await until(async () => (await callOf(rig, id)).card.clock?.name === 'resume', PATIENCE_MS, 20);
  gate.holdWrites(id);
  const worker = await openWorker(rig, tool, { instance_id: `${tool}-2`, client_id: `${tool}-2` });
  const { attempt } = await worker.request();
  await gate.reached();
  worker.send({ type: 'tool_call_claim', id, attempt });
  await settle(rig, [worker]);
  const before = await openCalls(rig);
  const cancelled = rig.api.ask('POST', `/v1/tool_calls/${id}/cancel`, { body: {} });
  // Decided, and not written: only the count of open calls shows it.
  await until(async () => (await openCalls(rig)) < before, 3_000, 20);
  gate.open();
  await cancelled;
  const { error } = await callOf(rig, id, '?wait_ms=20000');
  await worker.settled();
  const isGranted = worker.got('tool_call_granted', id) !== undefined;
  await worker.close();
  if (!isGranted && error?.code === 'cancelled' && error.executed === 'no') return [];
  const detail = `${id} was cancelled before its grant had left (granted: ${isGranted}) and ended ${JSON.stringify(error)}`;
  return [{ invariant: 'I7', detail }];
}

async function callOf({ api }: Rig, id: string, query = '') {
  const answer = await api.ask('GET', `/v1/tool_calls/${id}${query}`);
  return callRecordSchema.parse(answer?.body);
}

async function openCalls({ board }: Rig): Promise<number> {
  const { body } = await board.http('GET', '/metrics');
  return Number(/^callboard_open_calls (\d+)$/m.exec(String(body))?.[1]);
}

/** The write of a new call fails: its caller is refused, or the call is there after a start. */
async function failAccepting(rig: Rig, gate: Gate, round: number): Promise<void> {
  const key = `failed-${round}`;
  gate.failWrites(key);
  await ask(rig, 'calculation.eval', key, { expression: '6*7' });
  await gate.reached();
  await rig.board.stop('SIGKILL');
  gate.open();
  await rig.startAgain();
}

/** SIGTERM while a grant waits for the disk: the server ends when it is written, and not before. */
async function stopWhileHeld(rig: Rig, gate: Gate): Promise<Violation[]> {
  const worker = await openWorker(rig, 'effect_stopped');
  const id = await mustAsk(rig, worker.tool, 'stopped');
  const { attempt } = await worker.request();
  gate.holdWrites(id);
  worker.send({ type: 'tool_call_claim', id, attempt });
  await gate.reached();
  process.kill(rig.board.pid, 'SIGTERM');
  if (!(await until(() => gate.isClosing, PATIENCE_MS))) throw new Error('SIGTERM changed nothing');
  const ended = rig.board.stop('SIGTERM');
  const early = await Promise.race([ended, sleep(GONE_MS, 'waits' as const)]);
  gate.open();
  const code = await ended;
  const bad = (detail: string): Violation[] => [{ invariant: 'HEALTH', detail }];
  if (early !== 'waits') return bad(`SIGTERM: it ended with ${code} before ${id} was on disk`);
  if (code !== 0) return bad(`SIGTERM: exit ${code}: ${rig.board.log().slice(-600)}`);
  return existsSync(join(rig.board.dataDir, 'callboard.db-wal'))
    ? bad(`SIGTERM: exit ${code}, and the record was not closed: its log is left`)
    : [];
}
