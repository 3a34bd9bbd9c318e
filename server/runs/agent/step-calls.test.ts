import { expect, test } from 'vitest';
import { FIRST_OPERATOR } from '../../auth/principal.ts';
import { StepCalls } from './step-calls.ts';
import { createFakeCalls, createManualClock } from './testing/fakes.ts';

test('[AL6] a draft that is made while the turn ends is abandoned, and in no message', async () => {
  const calls = createFakeCalls(() => []);
  const named: string[] = [];
  const made = Promise.withResolvers<void>();
  const stepCalls = new StepCalls({
    clock: createManualClock(),
    draft: async (tool) => {
      await made.promise;
      const principal = { kind: 'run', runId: 'run_1', owner: FIRST_OPERATOR } as const;
      return calls.draft({ principal, runId: 'run_1', tool });
    },
    isRepeated: () => false,
    onWritten: () => undefined,
    endsTurn: () => false,
    onDescribed: () => undefined,
    takeCall: () => undefined,
    onDraft: (callId) => void named.push(callId),
    giveUp: (draft, message) => draft.abandon(message),
  });
  const begun = stepCalls.begin('call_1', { toolName: 'demo.echo' });
  expect(stepCalls.abandon('The run was stopped.')).toEqual([]);
  made.resolve();
  await begun;
  expect(named).toEqual([]);
  expect(calls.records.get('tc_1')).toMatchObject({ status: 'FAILED' });
});
