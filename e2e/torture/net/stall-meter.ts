import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Violation } from '../scenario.ts';

const LIMIT_MS = 100;
/** Whoever takes this long for nothing was not let run by the system; neither was our server. */
const STARVED_MS = 20;
/** What piled up while the server was not let run is not a stall of its own: so long before a look, */
const BEFORE_MS = 1_000;
/** it may have waited for a core so much. */
const BEFORE_WAITED_MS = 100;

/** It ends with whoever started it. */
const TINY_SERVER =
  "process.stdin.resume().on('end',()=>process.exit());require('node:http').createServer((q,r)=>r.end('ok')).listen(0,'127.0.0.1',function(){console.log(this.address().port)})";

export interface StallMeter {
  /** Stops measuring; gives what it saw. */
  stop(): Promise<{ figures: Record<string, number>; violations: Violation[] }>;
}

/** One request; what `stall-worker.ts` posts. Times in milliseconds. */
interface Look {
  readonly at: number;
  readonly ms: number;
  /** The same request to a tiny server. */
  readonly controlMs: number;
  /** How late the worker was before it. */
  readonly lag: number;
  /** Of `ms`, in which they were ready to run and the system did not let them. */
  readonly serverWaited: number;
  readonly helpersWaited: number;
  readonly meterWaited: number;
}

/** On a machine with something else to do: neither in the look nor before it was anybody starved. */
function isFair(look: Look, all: readonly Look[]): boolean {
  const before = all.filter(({ at }) => at < look.at && at > look.at - BEFORE_MS);
  const waitedBefore = before.reduce((sum, { serverWaited }) => sum + serverWaited, 0);
  return (
    waitedBefore < BEFORE_WAITED_MS &&
    [look.controlMs, look.lag, look.helpersWaited, look.meterWaited].every((ms) => ms < STARVED_MS)
  );
}

/**
 * How long the server keeps its event loop, seen from outside: the latency of
 * `/healthz`, measured by a worker, less the time that the system did not let the
 * server run. A look counts only when nothing else was starved, be it the worker,
 * a tiny server in another process, or the server in the second before.
 */
export async function measureStalls({
  url,
  pid,
}: {
  url: string;
  pid: number;
}): Promise<StallMeter> {
  const control = spawn(process.execPath, ['-e', TINY_SERVER], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [port] = await once(control.stdout, 'data');
  const worker = new Worker(new URL('./stall-worker.ts', import.meta.url), {
    workerData: {
      url: `${url}/healthz`,
      pid,
      controlUrl: `http://127.0.0.1:${String(port).trim()}/`,
    },
  });
  const looks: Look[] = [];
  worker.on('message', (look: Look) => looks.push(look));
  return {
    async stop() {
      await worker.terminate();
      control.kill('SIGKILL');
      const fair = looks.filter((look) => isFair(look, looks));
      const own = fair.map((look) => ({ ...look, ms: look.ms - look.serverWaited }));
      const stalls = own.filter(({ ms }) => ms > LIMIT_MS);
      const worst = (all: readonly Look[]) => Math.round(Math.max(0, ...all.map(({ ms }) => ms)));
      return {
        figures: {
          looks: looks.length,
          looks_nobody_starved: fair.length,
          stall_ms_max: worst(own),
          latency_ms_max: worst(looks),
        },
        violations: stalls.slice(0, 3).map(({ ms, controlMs, lag }) => ({
          invariant: 'HEALTH',
          detail: `/healthz took ${Math.round(ms)} ms while a tiny server took ${Math.round(controlMs)} ms and the meter was ${Math.round(lag)} ms late; at most ${LIMIT_MS} ms`,
        })),
      };
    },
  };
}
