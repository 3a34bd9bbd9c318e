import { expect, test } from 'vitest';
import { operator, setupCalls, tool } from '../calls/testing/setup-calls.ts';
import type { CheckVerdict } from './check.ts';

/** Verdicts that the test gives, in the order in which they are asked for. */
async function setup() {
  const asked: ((verdict: CheckVerdict) => void)[] = [];
  const check = () => new Promise<CheckVerdict>((resolve) => asked.push(resolve));
  const one = await setupCalls({ check });
  const phone = one.connect('phone');
  phone.offer(tool('fx'));
  const beingChecked = (count: number) => expect.poll(() => asked.length).toBe(count);
  return { ...one, phone, asked, beingChecked };
}

test('[CA29] nothing of a call is there before its verdict, and nothing runs', async () => {
  const { invoke, calls, phone, asked, beingChecked, settle } = await setup();
  const invoking = invoke('fx');
  await beingChecked(1);
  await settle();
  expect([calls.watched(), phone.requests()]).toEqual([[], []]);
  asked[0]?.({ verdict: 'allow' });
  const { id } = await invoking;
  await settle();
  expect(phone.requests()).toMatchObject([{ id }]);
});

test('[CA29] the same key waits for the call that is being checked', async () => {
  const { invoke, asked, beingChecked, calls } = await setup();
  const both = [1, 2].map(() => invoke('fx', {}, { idempotencyKey: 'k' }));
  await beingChecked(1);
  asked[0]?.({ verdict: 'ask', reason: 'it has effects' });
  const [first, second] = await Promise.all(both);
  expect([second?.id, asked.length]).toEqual([first?.id, 1]);
  expect(await calls.list({ limit: 10 })).toMatchObject({ calls: [{ phase: 'approval' }] });
});

test('[CA29] a draft that was cancelled meanwhile stays cancelled, whatever the verdict', async () => {
  const { calls, phone, asked, beingChecked, settle } = await setup();
  const draft = await calls.draft({ principal: operator, runId: 'run_1', tool: 'fx' });
  const completing = draft.complete({});
  await beingChecked(1);
  await calls.cancel(draft.callId, 'not any more', 'operator');
  asked[0]?.({ verdict: 'allow' });
  expect(await completing).toMatchObject({ status: 'FAILED', error: { code: 'cancelled' } });
  await settle();
  expect(phone.requests()).toEqual([]);
});

test('[CA29] a server that stops takes no call that was still being checked', async () => {
  const { calls, asked, beingChecked } = await setup();
  const request = { principal: operator, tool: 'fx', runId: 'run_1', args: {} };
  const invoking = calls.invoke(request);
  await beingChecked(1);
  calls.stop();
  asked[0]?.({ verdict: 'allow' });
  expect(await invoking).toMatchObject({ ok: false, code: 'shutting_down' });
  expect((await calls.list({ limit: 10 })).calls).toEqual([]);
});
