/**
 * In a worker: measures how long `/healthz` of the server under test takes, how
 * much of that the system did not let the server or this worker run, and beside it
 * the same request to a tiny server in a process of its own.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

const { url, pid, controlUrl } = workerData as { url: string; pid: number; controlUrl: string };
const EVERY_MS = 10;

async function timed(address: string): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(address);
  await response.text();
  return performance.now() - startedAt;
}

/** Milliseconds that a thread was ready to run and was not let; Linux counts them. */
function waitedMs(task: string): number {
  try {
    const [, waited] = readFileSync(`${task}/schedstat`, 'utf8').split(' ');
    return Number(waited) / 1e6;
  } catch {
    return 0;
  }
}

/** V8's own, which the main thread waits for while they help it to collect garbage. */
function helperThreads(): string[] {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`).map((id) => `/proc/${pid}/task/${id}`);
    return tasks.filter((task) => readFileSync(`${task}/comm`, 'utf8').includes('V8'));
  } catch {
    return [];
  }
}

const main = `/proc/${pid}/task/${pid}`;
const helpers = helperThreads();
const readWaits = () => ({
  server: waitedMs(main),
  helpers: helpers.reduce((sum, task) => sum + waitedMs(task), 0),
  meter: waitedMs('/proc/thread-self'),
});

for (;;) {
  const before = performance.now();
  await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  const at = performance.now();
  const waits = readWaits();
  const both = await Promise.all([timed(url), timed(controlUrl)]).catch(() => undefined);
  const now = readWaits();
  if (!both) continue;
  parentPort?.postMessage({
    at,
    ms: both[0],
    controlMs: both[1],
    lag: at - before - EVERY_MS,
    serverWaited: now.server - waits.server,
    helpersWaited: now.helpers - waits.helpers,
    meterWaited: now.meter - waits.meter,
  });
}
