import { callRecordSchema } from '#lib/protocol/call-record';
import { callEventsPageSchema, callsPageSchema, invokeAcceptedSchema } from '#lib/protocol/rest';
import { openWorker } from '../net/raw-worker.ts';
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

/** Killed when the first step of a group is made: the call, its events and its key are there, or none of them. */
export async function killInGroup(rig: Rig, gate: Gate, key: string): Promise<Violation[]> {
  gate.holdHalf(key);
  const asked = invoke(rig, 'calculation.eval', key, { args: { expression: '6*7' } });
  await gate.reached();
  await rig.board.stop('SIGKILL');
  await asked;
  gate.open();
  await rig.startAgain();
  const made = [...(await rig.api.records()).values()].filter(
    ({ run_id }) => run_id === `run_${key}`,
  );
  const violations: Violation[] = [];
  for (const { tool_call_id: id } of made) {
    const answer = await rig.api.ask('GET', `/v1/tool_calls/${id}/events`);
    const [first] = callEventsPageSchema.parse(answer?.body).events;
    if (first?.version === 1) continue;
    const detail = `${id} is there after a kill in the middle of its write, and its events begin with ${first?.version ?? 'none'}`;
    violations.push({ invariant: 'I15', detail });
  }
  return violations;
}

/** Killed when the words of an ended call are about to be indexed: after the start it is found by them. */
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
  if (calls.some(({ tool_call_id }) => tool_call_id === id)) return [];
  const detail = `${id} ended before a kill, and is not found by ${word} after it`;
  return [{ invariant: 'I15', detail }];
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
