import { setTimeout as sleep } from 'node:timers/promises';
import { callRecordSchema } from '#lib/protocol/call-record';
import type { Random } from '../random.ts';
import type { Api } from './api.ts';
import type { Witness } from './witness.ts';

/** Between two tries while the server is away or has no client. */
const PAUSE_MS = 15;

export interface CallerOptions {
  readonly api: Api;
  readonly witness: Witness;
  readonly random: Random;
  readonly name: string;
  /** The time of a call on its `execute` clock. */
  readonly timeoutMs: number;
  /** Some calls are cancelled, and some have less time than they need. */
  readonly troubles: boolean;
  isStopped(): boolean;
  /** The next call is asked for once this is false. */
  isAhead(): boolean;
}

/** One after another until it is stopped: asks for calls as an agent does that never gives up. */
export async function runCaller(options: CallerOptions): Promise<void> {
  for (let count = 0; !options.isStopped(); count += 1) {
    while (options.isAhead() && !options.isStopped()) await sleep(PAUSE_MS);
    await askOnce(options, `${options.name}-${count}`);
  }
}

async function askOnce(options: CallerOptions, nonce: string): Promise<void> {
  const { api, witness, random } = options;
  const tool = pickTool(random);
  const way = random.pick(['tell', 'tell', 'poll', 'wait', 'wait'] as const);
  const isHurried = options.troubles && tool === 'effect_slow' && random.chance(0.1);
  const isCancelled = options.troubles && random.chance(0.05);
  const path = `/v1/tools/${tool}/invoke`;
  const body = {
    run_id: `run_${options.name}`,
    args: tool === 'calculation.eval' ? { expression: '6*7' } : argsOf(tool, nonce, random),
    timeout_ms: isHurried ? 120 : options.timeoutMs,
    ...(way === 'wait' ? { wait_ms: 2_000 } : {}),
  };
  const headers = { 'idempotency-key': nonce };
  for (;;) {
    const answer = await api.ask('POST', path, { body, headers });
    if (answer?.status === 202 || answer?.status === 200) {
      const id = (answer.body as { tool_call_id: string }).tool_call_id;
      witness.accepted(id, { key: nonce, tool, nonce });
      if (answer.status === 200) witness.saw(callRecordSchema.parse(answer.body));
      if (isCancelled) await cancel(options, id);
      if (way === 'poll') await poll(options, id);
      return;
    }
    witness.refused(answer ? `${answer.status} ${codeOf(answer.body)}` : 'connection broke');
    // The same key again: what was accepted meanwhile is the same call.
    if (options.isStopped()) return;
    await sleep(PAUSE_MS);
  }
}

async function cancel({ api, random }: CallerOptions, id: string): Promise<void> {
  await sleep(random.between(0, 20));
  await api.cancel(id);
}

async function poll(options: CallerOptions, id: string): Promise<void> {
  const { api, random, isStopped } = options;
  while (!isStopped()) {
    const record = await api.tryRead(id, 1_000);
    // Cancelled after its end: it must stay what it is, which the check at the end tells.
    if (record && record.completed_at !== null)
      return random.chance(0.2) ? cancel(options, id) : undefined;
    if (!record) await sleep(PAUSE_MS);
  }
}

const pickTool = (random: Random): string =>
  random.pick([
    ...['effect', 'effect', 'effect', 'effect', 'effect_slow', 'effect_slow'],
    ...['read', 'read', 'big', 'calculation.eval'],
  ]);

const argsOf = (tool: string, nonce: string, random: Random) => ({
  nonce,
  ms: tool === 'effect_slow' ? random.between(20, 200) : random.between(0, 10),
});

const codeOf = (body: unknown): string =>
  (body as { error?: { code?: string } }).error?.code ?? 'no code';
