import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WireCallRecord } from '#lib/protocol/call-record';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { readEffects } from './client-facts.ts';
import type { ClientProcess } from './client-process.ts';
import { must, PATIENCE_MS } from './until.ts';
import type { World } from './world.ts';

/** A call in whose middle its client stands: the effect is done, and the tool has not ended. */
export interface BegunCall {
  readonly id: string;
  /** How often its effect was done so far. */
  effects(): number;
  /** Lets its tool end, in whatever life of the client it runs. */
  finish(): void;
}

let begun = 0;

export async function beginCall(
  { api, dir }: World,
  { config: { effectFile } }: ClientProcess,
): Promise<BegunCall> {
  begun += 1;
  const file = join(dir, `finish-${begun}`);
  const id = await api.invoke('effect', { timeout_ms: 2 * PATIENCE_MS, args: { until: file } });
  const effects = () => readEffects(effectFile).get(id) ?? 0;
  await must(`the effect of ${id} is done`, () => effects() > 0);
  return { id, effects, finish: () => writeFileSync(file, '') };
}

/** An undisturbed call of each tool, once its client offers them. After three leavings in a row the breaker would rest it for half a minute. */
export async function works({ api }: World): Promise<void> {
  const tools = ['effect', 'effect_slow', 'read', 'big'];
  await api.untilListed(...tools);
  for (const tool of tools)
    await api.end(await api.invoke(tool, { timeout_ms: PATIENCE_MS }), PATIENCE_MS);
}

/**
 * The client died in the middle of the call and is back. What it had begun it cannot know the end
 * of: the call has to end so, and its effect was done once.
 */
export async function endsUnknown(world: World, call: BegunCall, how: string): Promise<void> {
  const record = await untilEndOrRunAgain(world, call);
  call.finish();
  await world.api.end(call.id, PATIENCE_MS);
  const detail = `${call.id}: its client ${how} in the middle of it and came back`;
  const code = record?.error?.code;
  if (call.effects() > 1) world.bad('I5', `${detail}; it was done ${call.effects()} times`);
  else if (code !== 'outcome_unknown')
    world.bad('I2', `${detail}; it ended ${code ?? record?.status}`);
}

/** Undefined when its effect is done a second time before it has an end. */
export const untilEndOrRunAgain = (
  { api }: World,
  call: BegunCall,
): Promise<WireCallRecord | undefined> =>
  must(`${call.id} ends`, async () => {
    if (call.effects() > 1) return { record: undefined };
    const record = await api.end(call.id, 0);
    return isFinalStatus(record.status) && { record };
  }).then(({ record }) => record);
