import { expect, test } from 'vitest';
import { createMemoryBus } from '../events/memory-bus.ts';
import { NO_BUDGET, Spending } from './agent/spending.ts';
import { Spendings } from './spendings.ts';

test('[DE16] events of calls are followed while a turn runs, and take no turn of the event loop else', async () => {
  const flushes: (() => void)[] = [];
  const bus = createMemoryBus({ schedule: (flush) => void flushes.push(flush) });
  const clock = { now: () => 0 };
  const spendings = new Spendings({ bus, calls: { watched: () => [] }, clock });
  const waits = async () => {
    const waiting: string[] = [];
    bus.publish({ type: 'call', tool_call_id: 'tc_1', run_id: 'run_1', update: { phase: 'held' } });
    const spending = spendings.get('run_1');
    if (spending) spending.callWaits = (id) => void waiting.push(id);
    const made = flushes.length;
    for (const flush of flushes.splice(0)) flush();
    return [made, waiting];
  };
  const during = (runId: string, work: () => Promise<unknown>) =>
    spendings.during(runId, new Spending(NO_BUDGET), work);
  expect(await waits()).toEqual([0, []]);
  await during('run_1', async () => {
    await during('run_2', waits);
    expect(await waits()).toEqual([1, ['tc_1']]);
  });
  expect(await waits()).toEqual([0, []]);
  expect(await during('run_1', waits)).toEqual([1, ['tc_1']]);
});
