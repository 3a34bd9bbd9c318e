import type { RunSummary } from '#lib/protocol/run';

export const sampleRun = (more: Partial<RunSummary> = {}): RunSummary => ({
  ...{ run_id: 'run_1', title: 'Pay the bill', status: 'running', model: 'rehearsal', tools: null },
  ...{ step: 1, max_steps: 10, error: null, created_at: 1, updated_at: 2 },
  ...more,
});

export const finishedRun = (more: Partial<RunSummary> = {}): RunSummary =>
  sampleRun({ status: 'idle', step: 0, ...more });
