import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Callboard } from '../../start-callboard.ts';
import type { Bad } from '../scenario.ts';
import { until } from '../world/until.ts';

const LIMIT_MS = 100;
/** Fewer reports are too little to say that nothing stalled. */
const FEWEST_LOOKS = 20;
/** The server tells four times a second. */
const LAST_WORD_MS = 3_000;

/** The report of `stall-probe.ts` on a quarter of a second. */
export interface StallWindow {
  /** Milliseconds since 1970. */
  readonly until: number;
  /** How often the event loop came round to it. */
  readonly looks: number;
  /** The longest that it did not, by the server's own doing. */
  readonly worstMs: number;
  /** The same with what the machine did not let run. */
  readonly worstWithWaitsMs: number;
}

export interface StallReport {
  readonly figures: Readonly<Record<string, number>>;
  /** For people. */
  readonly summary: string;
}

/** How long the server keeps its event loop from coming round, seen from within it. */
export interface StallMeter {
  /** For the server that is to be measured. */
  readonly env: Readonly<Record<string, string>>;
  /** From here on. A server loads its pages with the first that is asked for, 80 ms once: before it. */
  start(board: Callboard): Promise<void>;
  stop(bad: Bad): Promise<StallReport>;
}

export function createStallMeter(dir: string): StallMeter {
  const file = join(dir, 'stalls');
  const probe = new URL('./stall-probe.ts', import.meta.url).href;
  let from = 0;

  function windows(): StallWindow[] {
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    const all = lines.map((line): StallWindow => JSON.parse(line));
    // That of the beginning has in it what was before.
    return all.filter((_, index) => (all[index - 1]?.until ?? 0) > from);
  }

  return {
    env: { NODE_OPTIONS: `--import=${probe}`, TORTURE_STALLS: file },
    async start(board) {
      await board.http('GET', '/sign-in');
      from = Date.now();
    },
    async stop(bad) {
      const now = Date.now();
      await until(() => windows().some((one) => one.until > now), LAST_WORD_MS, 50);
      return report(windows(), bad);
    },
  };
}

function report(windows: readonly StallWindow[], bad: Bad): StallReport {
  const looks = windows.reduce((sum, one) => sum + one.looks, 0);
  const worst = (of: 'worstMs' | 'worstWithWaitsMs') =>
    Math.round(Math.max(0, ...windows.map((one) => one[of])));
  const [stall, latency] = [worst('worstMs'), worst('worstWithWaitsMs')];
  if (looks < FEWEST_LOOKS)
    bad(
      'HEALTH',
      `the event loop came round ${looks} times; fewer than ${FEWEST_LOOKS} say nothing`,
    );
  for (const { worstMs, until: end } of windows
    .filter((one) => one.worstMs > LIMIT_MS)
    .slice(0, 3)) {
    const at = new Date(end).toISOString();
    const detail = `the event loop stood for ${Math.round(worstMs)} ms before ${at} (${latency} ms at most with what the machine did not let run); at most ${LIMIT_MS} ms`;
    bad('HEALTH', detail);
  }
  return {
    figures: { looks, stall_ms_max: stall, latency_ms_max: latency },
    summary: `worst stall ${stall} ms in ${looks} looks (${latency} ms with what the machine did not let run)`,
  };
}
