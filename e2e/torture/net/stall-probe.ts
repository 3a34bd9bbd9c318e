/**
 * Loaded into the server under test by `node --import`: how long its event loop
 * is kept from coming round. Time in which the system did not let the server run,
 * or V8's helpers that it waits for while garbage is collected, is no stall of its
 * own and is taken off; Linux counts that by thread.
 */
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import type { StallWindow } from './stall-meter.ts';

const EVERY_MS = 10;
const TOLD_EVERY_MS = 250;

/** Milliseconds that a thread was ready to run and was not let. */
function waitedMs(task: string): number {
  try {
    const [, waited] = readFileSync(`${task}/schedstat`, 'utf8').split(' ');
    return Number(waited) / 1e6;
  } catch {
    return 0;
  }
}

function helperThreads(): string[] {
  try {
    const tasks = readdirSync('/proc/self/task').map((id) => `/proc/self/task/${id}`);
    return tasks.filter((task) => readFileSync(`${task}/comm`, 'utf8').includes('V8'));
  } catch {
    return [];
  }
}

function watchLoop(file: string): void {
  const tasks = ['/proc/thread-self', ...helperThreads()];
  const readWaits = () => tasks.reduce((sum, task) => sum + waitedMs(task), 0);
  const newWindow = (): StallWindow => ({ until: 0, looks: 0, worstMs: 0, worstWithWaitsMs: 0 });
  let window = newWindow();
  let [last, waits] = [performance.now(), readWaits()];
  let toldAt = last;
  setInterval(() => {
    const now = performance.now();
    const waited = readWaits();
    const late = Math.max(0, now - last - EVERY_MS);
    const own = Math.max(0, late - (waited - waits));
    window = {
      until: performance.timeOrigin + now,
      looks: window.looks + 1,
      worstMs: Math.max(window.worstMs, own),
      worstWithWaitsMs: Math.max(window.worstWithWaitsMs, late),
    };
    [last, waits] = [now, waited];
    if (now - toldAt < TOLD_EVERY_MS) return;
    toldAt = now;
    appendFileSync(file, `${JSON.stringify(window)}\n`);
    window = newWindow();
  }, EVERY_MS).unref();
}

const { TORTURE_STALLS: file } = process.env;
if (isMainThread && file !== undefined) watchLoop(file);
