import { expect, test } from 'vitest';
import { operator, setupCalls, tool } from '../calls/testing/setup-calls.ts';

test('T78 T79 what waits for a person runs nothing over a restart, and runs once after the yes', async () => {
  const before = await setupCalls({ check: () => ({ verdict: 'ask', reason: 'look at it' }) });
  const asked = before.connect('phone');
  asked.offer(tool('pay'));
  const { id, routing } = await before.invoke('pay', { to: 'ann' });
  await before.settle();
  await before.close();
  const after = await setupCalls({ dir: before.dir });
  await after.calls.recover();
  const phone = after.connect('phone');
  phone.offer(tool('pay'));
  await after.settle();
  expect([...asked.requests(), ...phone.requests()]).toEqual([]);
  const { approval, schemaHash } = routing;
  expect(await after.call(id)).toMatchObject({
    ...{ phase: 'approval', args: { to: 'ann' }, routing: { approval, schemaHash } },
  });
  const yes = () => after.calls.decide(id, operator, { decision: 'yes' });
  expect([(await yes()).ok, (await yes()).ok]).toEqual([true, false]);
  await after.settle();
  expect(phone.requests().map((one) => one.args)).toEqual([{ to: 'ann' }]);
});
