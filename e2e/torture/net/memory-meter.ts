import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../world/until.ts';

const ANSWERS_MS = 10_000;
const LOOK_EVERY_MS = 1_000;

/** Just after all garbage was collected, in MiB. */
interface MemoryLook {
  /** Values and buffers that are still referred to. */
  readonly live: number;
  /** The system counts this as the process's memory, that outside of V8 among it. */
  readonly held: number;
}

/** How much memory of the server is in use, without what nobody has collected yet. */
export interface MemoryMeter {
  /** For the server that is to be measured. */
  readonly env: Readonly<Record<string, string>>;
  look(pid: number): Promise<MemoryLook>;
  /** Looks again and again from now on; gives the most that both grew by. */
  follow(pid: number): Promise<{ stop(): Promise<MemoryLook> }>;
}

export function createMemoryMeter(dir: string): MemoryMeter {
  const file = join(dir, 'memory');
  const probe = new URL('./memory-probe.ts', import.meta.url).href;
  const said = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []);
  async function look(pid: number): Promise<MemoryLook> {
    const before = said().length;
    process.kill(pid, 'SIGUSR2');
    if (!(await until(() => said().length > before, ANSWERS_MS)))
      throw new Error(`the server did not say within ${ANSWERS_MS} ms how much memory it uses`);
    const [live, held] = (said().at(-1) ?? '').split(' ').map(toMebibytes);
    return { live: live ?? Number.NaN, held: held ?? Number.NaN };
  }

  async function follow(pid: number) {
    const before = await look(pid);
    const grown = { live: 0, held: 0 };
    let isOver = false;
    const looks = (async () => {
      while (!isOver) {
        const now = await look(pid);
        grown.live = Math.max(grown.live, now.live - before.live);
        grown.held = Math.max(grown.held, now.held - before.held);
        await sleep(LOOK_EVERY_MS);
      }
    })();
    // The one who stops it hears of a look that failed; until then it must not end the process.
    looks.catch(() => undefined);
    return {
      async stop() {
        isOver = true;
        await looks;
        return grown;
      },
    };
  }

  return { env: { NODE_OPTIONS: `--import=${probe}`, TORTURE_MEMORY: file }, look, follow };
}

const toMebibytes = (bytes: string): number => Math.round(Number(bytes) / 2 ** 20);
