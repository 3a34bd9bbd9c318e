import { expect, test } from 'vitest';
import { askingText } from '#lib/protocol/asking-client';
import { reading, setupCalls, tool } from './testing/setup-calls.ts';

/** Three tabs of one browser, which have one client id, and one of another; each touched after the one before. */
async function setup(dir?: string) {
  const one = await setupCalls(dir === undefined ? {} : { dir });
  const tab = (clientId: string, instanceId: string) => {
    const client = one.connect(clientId, { instanceId, claims: true });
    client.offer(tool('shot', reading));
    one.clock.advance(1);
    one.table.touch(instanceId);
    one.clock.advance(1);
    return client;
  };
  const tabs = [tab('b1', 't1'), tab('b1', 't2'), tab('b1', 't3'), tab('b2', 't4')];
  const [first, second, third, fourth] = tabs;
  if (!first || !second || !third || !fourth) throw new Error('four tabs');
  return { ...one, tabs, first, second, third, fourth };
}

const counts = (tabs: Awaited<ReturnType<typeof setup>>['tabs']) =>
  tabs.map((tab) => tab.requests().length);

test('[RT68] [TR61] of the tabs of a browser the one in which the person asks is asked, whatever was touched since', async () => {
  const { invoke, tabs, table, clock, first } = await setup();
  await invoke('shot', {}, { fromClientId: askingText('b1', 't2') });
  expect(counts(tabs)).toEqual([0, 1, 0, 0]);
  clock.advance(5);
  table.touch(first.instanceId);
  await invoke('shot', {}, { fromClientId: askingText('b1', 't2') });
  expect(counts(tabs)).toEqual([0, 2, 0, 0]);
  table.update('t2', { visible: false });
  await invoke('shot', {}, { fromClientId: askingText('b1', 't2') });
  expect(counts(tabs)).toEqual([0, 3, 0, 0]);
  // Without the tab, the browser alone: its tab that was touched last.
  await invoke('shot', {}, { fromClientId: 'b1' });
  expect(counts(tabs)).toEqual([1, 3, 0, 0]);
});

test('[RT68] when that tab has closed, or does not answer, another of its browser is asked, and then any', async () => {
  const { invoke, tabs, table, first, second, third } = await setup();
  const from = { fromClientId: askingText('b1', 't1') };
  table.update('t1', { responsive: false });
  await invoke('shot', {}, from);
  expect(counts(tabs)).toEqual([0, 0, 1, 0]);
  first.leave();
  third.leave();
  await invoke('shot', {}, from);
  expect(second.requests()).toHaveLength(2);
  second.leave();
  await invoke('shot', {}, from);
  expect(tabs[3]?.requests().length).toBeGreaterThan(0);
});

test('[RT68] a call for the client that is named goes to the tab of it in which the person asks', async () => {
  const { invoke, tabs } = await setup();
  await invoke('shot', {}, { clientId: 'b1', fromClientId: askingText('b1', 't1') });
  await invoke('shot', {}, { clientId: 'b2', fromClientId: askingText('b1', 't1') });
  expect(counts(tabs)).toEqual([1, 0, 0, 1]);
});
