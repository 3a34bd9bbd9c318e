import { expect, test } from 'vitest';
import { createCallFollowers } from './call-followers.ts';
import { createMemoryBus } from './memory-bus.ts';

test('[EB12] who follows a call hears of it alone, and events that nobody follows take no turn of the event loop', () => {
  const flushes: (() => void)[] = [];
  const bus = createMemoryBus({ schedule: (flush) => void flushes.push(flush) });
  const received: string[] = [];
  /** How many turns two events took, and who received which. */
  const publish = () => {
    for (const id of ['tc_1', 'tc_2'])
      bus.publish({ type: 'call', tool_call_id: id, run_id: 'run_1', update: { tip: id } });
    const turns = flushes.length;
    for (const flush of flushes.splice(0)) flush();
    return [turns, ...received.splice(0)];
  };
  const { follow } = createCallFollowers(bus, 'tool_call_id');
  const ofRuns = createCallFollowers(bus, 'run_id');
  expect(publish()).toEqual([0]);
  const leave = follow('tc_1', ({ update }) => void received.push(`one ${update.tip}`));
  const other = follow('tc_1', ({ update }) => void received.push(`two ${update.tip}`));
  expect(publish()).toEqual([1, 'one tc_1', 'two tc_1']);
  leave();
  const leaveRun = ofRuns.follow('run_1', ({ update }) => void received.push(`run ${update.tip}`));
  expect(publish()).toEqual([1, 'two tc_1', 'run tc_1', 'run tc_2']);
  other();
  leaveRun();
  expect(publish()).toEqual([0]);
  const again = follow('tc_1', ({ update }) => void received.push(`new ${update.tip}`));
  // Leaving twice takes no place of who came after.
  other();
  expect(publish()).toEqual([1, 'new tc_1']);
  again();
});

test('[EB12] who follows a call hears of nothing older, and one that throws takes nothing from the others', () => {
  const flushes: (() => void)[] = [];
  const errors: unknown[] = [];
  const bus = createMemoryBus({
    schedule: (flush) => void flushes.push(flush),
    logger: { error: (error) => void errors.push(error), info: () => {} },
  });
  const publish = (id: string, tip: string) =>
    bus.publish({ type: 'call', tool_call_id: id, run_id: 'run_1', update: { tip } });
  const { follow } = createCallFollowers(bus, 'tool_call_id');
  const failure = new Error('broken');
  follow('tc_1', () => {
    throw failure;
  });
  publish('tc_2', 'before');
  const received: unknown[] = [];
  follow('tc_2', ({ update }) => void received.push(update.tip));
  publish('tc_1', 'x');
  publish('tc_2', 'after');
  for (const flush of flushes) flush();
  expect(received).toEqual(['after']);
  expect(errors).toEqual([failure]);
});
