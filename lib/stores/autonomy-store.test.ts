import { expect, test } from 'vitest';
import type { AutonomyLevel } from '../policy/autonomy.ts';
import { effectiveLevel } from './autonomy-store.ts';

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
