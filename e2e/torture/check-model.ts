import { runModelCheck } from '../model/run-model-check.ts';
import type { ModelRun } from './report.ts';

const BOUNDS = { attempts: 2, instances: 2, faults: 1 } as const;

/** Searches all interleavings of the call's transitions, with the real rules and with broken ones. */
export function checkModel(): ModelRun {
  const { states, transitions, depth, violations, broken } = runModelCheck(BOUNDS);
  const found = `${states} states, ${transitions} transitions, ${depth} steps deep: ${violations.length} violations.`;
  const { attempts, instances, faults } = BOUNDS;
  const within = `${attempts} attempts, instances: ${instances}, faults: ${faults}`;
  return {
    states,
    violations: violations.length,
    summary: [`${found} (${within})`, ...violations].join('\n'),
    broken: broken.map(({ name, counterExample }) => ({
      name,
      hasCounterExample: counterExample !== null,
    })),
  };
}
