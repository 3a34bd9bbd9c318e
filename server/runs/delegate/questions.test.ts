import { expect, test } from 'vitest';
import type { Check } from '../../approvals/check.ts';
import { FIRST_OPERATOR } from '../../auth/principal.ts';
import { delegate, helper, type Script, setupDelegation } from './testing/setup-delegation.ts';

const asksAboutEffects: Check = ({ toolName }) =>
  toolName === 'fx.effect' ? { verdict: 'ask', reason: 'It has effects' } : { verdict: 'allow' };

const effects = (...ofs: string[]) => ofs.map((of) => ({ name: 'fx_effect', args: { of } }));

/** The parent asks about one effect and delegates to two, each of which asks about three. */
const eight: Script = ({ model, index }) => {
  if (index > 0) return { text: 'Done.' };
  if (model !== 'boss') return { calls: effects(`${model}1`, `${model}2`, `${model}3`) };
  return { calls: [...effects('own'), delegate('helper'), delegate('scout')] };
};

test('[CA43] a run and its sub-agents have five questions together, and what is decided makes room', async () => {
  const made = await setupDelegation({
    ...{ script: eight, check: asksAboutEffects, agents: { helper, scout: helper } },
  });
  const runId = await made.start();
  const phases = async () => (await made.callsOf('fx.effect')).map(({ phase }) => phase);
  const isAsked = (phase: string | null) => phase === 'approval';
  await expect.poll(async () => (await phases()).length).toBe(7);
  await expect.poll(async () => (await phases()).filter(isAsked).length).toBe(5);
  const all = await made.callsOf('fx.effect');
  expect(all.filter(({ phase }) => phase === 'held')).toHaveLength(2);
  const [first] = all.filter(({ phase }) => isAsked(phase));
  await made.calls.decide(first?.id ?? '', FIRST_OPERATOR, { decision: 'no' });
  await made.runs.cancel(runId);
  await expect.poll(async () => (await phases()).filter(isAsked).length).toBe(0);
  // What their sub-agents' runs held is given back, though these have ended.
  const outcomes = await Promise.all(
    FIVE.map(async (n) => {
      const args = { of: `${n}` };
      const request = { principal: FIRST_OPERATOR, runId, tool: 'fx.effect', args };
      const outcome = await made.calls.invoke(request);
      return outcome.ok && outcome.call.phase;
    }),
  );
  expect(outcomes).toEqual(new Array(5).fill('approval'));
  expect(made.effects).toEqual([]);
});

const FIVE = [1, 2, 3, 4, 5];
