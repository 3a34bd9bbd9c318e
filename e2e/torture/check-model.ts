import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { QUIET_NODE } from '../../server/bootstrap/run-server.mjs';
import { runModelCheck } from '../model/run-model-check.ts';
import type { ModelRun } from './report.ts';

/** All interleavings of the call's transitions, with the real rules and with broken ones. */
export function checkModel({ isShort }: { readonly isShort: boolean }): ModelRun {
  const bounds = { attempts: 2, instances: isShort ? 1 : 2, faults: 1 } as const;
  const { states, transitions, depth, violations, broken } = runModelCheck(bounds);
  const found = `${states} states, ${transitions} transitions, ${depth} steps deep: ${violations.length} violations.`;
  const within = `${bounds.attempts} attempts, instances: ${bounds.instances}, faults: ${bounds.faults}`;
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

/** The same beside what else runs: in a process of its own, which yields to others. */
export async function checkModelBeside({
  isShort,
}: {
  readonly isShort: boolean;
}): Promise<ModelRun> {
  const program = join(import.meta.dirname, 'model-program.ts');
  const args = [QUIET_NODE, program, isShort ? 'short' : 'full'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 16_777_216 });
  return JSON.parse(stdout);
}
