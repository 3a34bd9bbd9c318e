import { expect, test } from 'vitest';
import { childRunOf } from '#lib/protocol/child-run';
import { delegate, helper, type Script, setupDelegation } from './testing/setup-delegation.ts';

const usage = (input: number) => ({ input, output: 10, reasoning: 0, cached: 0 });

/** The boss asks twice with 100 tokens, the helper twice with 1,000, and the scout below that one once with 5. */
const script: Script = ({ model, index }) => {
  if (model === 'scout') return { text: 'Scouted.', usage: usage(5) };
  const used = usage(model === 'boss' ? 100 : 1_000);
  if (index > 0) return { text: 'Done.', usage: used };
  return { calls: [delegate(model === 'boss' ? 'helper' : 'scout')], usage: used };
};

const agents = { helper: { ...helper, tools: ['delegate'] }, scout: { ...helper, tools: [] } };
const prices = {
  currency: 'EUR',
  models: { 'openai-chat:*': { input: 1_000_000, output: 0 } },
};

async function played() {
  const made = await setupDelegation({ script, agents, prices });
  const run = await made.turn();
  const [outer] = await made.callsOf('delegate');
  return { ...made, run, childId: childRunOf(outer?.id ?? '') };
}

const tokens = (requests: number, input: number) => ({
  ...{ requests, uncounted_requests: 0, input_tokens: input, output_tokens: requests * 10 },
  cost: { amount: input, currency: 'EUR', unpriced_requests: 0 },
});

test('[DE14] a run has its own tokens and cost, and the sum with its sub-agents at any depth', async () => {
  const { run, runs, childId } = await played();
  expect(run.usage).toMatchObject({ ...tokens(2, 200), with_children: tokens(5, 2_205) });
  const child = await runs.get(childId);
  expect(child?.usage).toMatchObject({ ...tokens(2, 2_000), with_children: tokens(3, 2_005) });
});

test('[DE14] the sums are made again from the disk, and a run without sub-agents has none', async () => {
  const before = await played();
  await before.close();
  const alone: Script = () => ({ text: 'Hi.', usage: usage(7) });
  const after = await setupDelegation({ script: alone, agents, prices, dir: before.dir });
  const found = await after.runs.get(before.run.run_id);
  expect(found?.usage).toEqual(before.run.usage);
  expect((await after.turn('Hi')).usage?.with_children).toBeUndefined();
});
