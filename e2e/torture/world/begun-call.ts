import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WireCallRecord } from '#lib/protocol/call-record';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { Violation } from '../scenario.ts';
import { askCall, callEnd } from './ask-call.ts';
import { readEffects } from './client-facts.ts';
import type { ClientProcess } from './client-process.ts';
import { until } from './until.ts';
import type { World } from './world.ts';

/** Events are waited for that long, on any machine. Nothing is decided by it. */
const PATIENCE_MS = 60_000;

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
  world: World,
  client: ClientProcess,
  dir: string,
): Promise<BegunCall> {
  begun += 1;
  const file = join(dir, `finish-${begun}`);
  const { effectFile } = client.config;
  const id = await askCall(world, 'effect', { timeoutMs: 2 * PATIENCE_MS, until: file });
  const effects = () => readEffects(effectFile).get(id) ?? 0;
  await until(`the effect of ${id} is done`, PATIENCE_MS, () => effects() > 0);
  return { id, effects, finish: () => writeFileSync(file, '') };
}

/** An undisturbed call of each tool, once its client offers them. After three leavings in a row the breaker would rest it for half a minute. */
export async function works(world: World): Promise<void> {
  const tools = ['effect', 'effect_slow', 'read', 'big'];
  await until('the client offers its tools', PATIENCE_MS, async () => {
    const listed = JSON.stringify((await world.api.ask('GET', '/v1/tools'))?.body ?? '');
    return tools.every((name) => listed.includes(`"${name}"`));
  });
  for (const tool of tools) {
    await callEnd(world, await askCall(world, tool, { timeoutMs: PATIENCE_MS }), PATIENCE_MS);
  }
}

/**
 * The client died in the middle of the call and is back. What it had begun it cannot know the end
 * of: the call has to end so, and its effect was done once.
 */
export async function endsUnknown(
  world: World,
  call: BegunCall,
  how: string,
): Promise<Violation[]> {
  const record = await untilEndOrRunAgain(world, call);
  call.finish();
  await callEnd(world, call.id, PATIENCE_MS);
  const detail = `${call.id}: its client ${how} in the middle of it and came back`;
  if (call.effects() > 1)
    return [{ invariant: 'I5', detail: `${detail}; it was done ${call.effects()} times` }];
  return record?.error?.code === 'outcome_unknown'
    ? []
    : [{ invariant: 'I2', detail: `${detail}; it ended ${record?.error?.code ?? record?.status}` }];
}

/** Undefined when its effect is done a second time before it has an end. */
export const untilEndOrRunAgain = (
  world: World,
  call: BegunCall,
): Promise<WireCallRecord | undefined> =>
  until(`${call.id} ends`, PATIENCE_MS, async () => {
    if (call.effects() > 1) return { record: undefined };
    const record = await callEnd(world, call.id, 0);
    return isFinalStatus(record.status) && { record };
  }).then(({ record }) => record);
