import { expect, test } from 'vitest';
import { createPolicyCheck } from './check.ts';
import { setupCalls, tool } from './testing/setup-calls.ts';

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
