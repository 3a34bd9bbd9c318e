import { expect, test } from 'vitest';
import { createPolicyCheck } from './check.ts';
import { operator, setupCalls, tool } from './testing/setup-calls.ts';

const verdictOf = (policy: { ask?: string[]; deny?: string[] }, toolName: string) =>
  createPolicyCheck({ ask: [], deny: [], ...policy })({
    principal: operator,
    toolName,
    args: {},
    runId: 'run_1',
  }).verdict;

test.each(['pol.t2', 'Pol.t2', 'POL_T2', 'pol_t2', 'pol.t2@phone', 'Pol_T2@laptop'])(
  '[CR8] %s is met by a rule for pol.t2, however it is spelt',
  (name) => {
    expect(verdictOf({ deny: ['pol.t2'] }, name)).toBe('deny');
    expect(verdictOf({ ask: ['pol.*'] }, name)).toBe('ask');
    expect(verdictOf({ deny: ['Pol_*'], ask: ['pol.t2'] }, name)).toBe('deny');
    expect(verdictOf({ ask: ['POL_T2@desk'] }, name)).toBe('ask');
    expect(verdictOf({ deny: ['pol.t3', 'po', 'ol.t2', 't2', 'poll.*'] }, name)).toBe('allow');
  },
);

const rules = createPolicyCheck({ ask: ['gate.*'], deny: [] });
const ENGLISH = 'The policy of this server asks an operator before gate.ask';

test('[CA8] a card tells that it is the policy which asks, in words and as a code', async () => {
  const { connect, invoke, cardOf, settle, close } = await setupCalls({ check: rules });
  connect('phone').offer(tool('gate.ask'));
  const { id } = await invoke('gate.ask');
  await settle();
  expect(cardOf(id)).toMatchObject({
    phase: 'approval',
    approval_reason: ENGLISH,
    approval_reason_code: 'policy',
  });
  await close();
});
