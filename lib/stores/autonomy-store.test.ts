import { expect, test } from 'vitest';
import type { AutonomyLevel } from '../policy/autonomy.ts';
import { createAutonomyStore, effectiveLevel } from './autonomy-store.ts';

const levels = (level: AutonomyLevel, runs: Record<string, AutonomyLevel> = {}) => ({
  level,
  runs: Object.entries(runs).map(([run_id, own]) => ({ run_id, level: own, set_at: 1 })),
});

test.each([
  [levels('supervised'), 'supervised'],
  [levels('supervised', { run_root: 'full' }), 'full'],
  [levels('supervised', { run_root: 'full', run_1: 'read_only' }), 'read_only'],
  [levels('supervised', { run_1: 'full' }), 'supervised'],
  [levels('read_only', { run_root: 'full', run_1: 'full' }), 'read_only'],
])('[PO9] [AN1] the level of a sub-agent’s run follows the one above it: %j', (autonomy, level) => {
  expect(effectiveLevel(autonomy, 'run_1', 'run_root')).toBe(level);
});

test('[AN1] it is not known before the server has answered', () => {
  expect(effectiveLevel(null, 'run_1', 'run_1')).toBeNull();
});

const switched = (level: AutonomyLevel | null, of_run: string | null = null) =>
  ({ type: 'autonomy', seq: 1, of_run, level, set_at: 1 }) as const;

test('[AN1] events set the level for all and for one run, and take that of a run away', () => {
  const store = createAutonomyStore();
  const { apply } = store.getState();
  store.setState({ autonomy: levels('supervised', { run_1: 'full' }) });
  apply([switched('read_only', 'run_2'), switched('full')]);
  expect(store.getState().autonomy).toEqual(levels('full', { run_1: 'full', run_2: 'read_only' }));
  apply([switched(null, 'run_1'), switched('supervised', 'run_2')]);
  expect(store.getState().autonomy).toEqual(levels('full', { run_2: 'supervised' }));
});

test('[AN1] an event before the first answer is another state, in which nothing is known', () => {
  const store = createAutonomyStore();
  const before = store.getState();
  before.apply([]);
  expect(store.getState()).toBe(before);
  before.apply([switched('full')]);
  expect(store.getState()).not.toBe(before);
  expect(store.getState().autonomy).toBeNull();
});
