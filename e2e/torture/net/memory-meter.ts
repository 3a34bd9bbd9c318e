import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './rig.ts';

const ANSWERS_MS = 10_000;

/** How much memory of the server is in use, without what nobody has collected yet. */
export interface MemoryMeter {
  /** For the server that is to be measured. */
  readonly env: Readonly<Record<string, string>>;
  /** In MiB. */
  look(pid: number): Promise<number>;
}

export function createMemoryMeter(dir: string): MemoryMeter {
  const file = join(dir, 'memory');
  const probe = new URL('./memory-probe.ts', import.meta.url).href;
  const said = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []);
  return {
    env: { NODE_OPTIONS: `--import=${probe}`, TORTURE_MEMORY: file },
    async look(pid) {
      const before = said().length;
      process.kill(pid, 'SIGUSR2');
      if (!(await until(() => said().length > before, ANSWERS_MS)))
        throw new Error(`the server did not say within ${ANSWERS_MS} ms how much memory it uses`);
      return Math.round(Number(said().at(-1)) / 2 ** 20);
    },
  };
}
