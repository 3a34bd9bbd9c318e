/**
 * Loaded into the server under test by `node --import`: told by a signal, it
 * collects all garbage and says what lives. What a process holds says little:
 * V8 gives back late, and only some.
 */
import { appendFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

const { TORTURE_MEMORY: file } = process.env;
if (isMainThread && file !== undefined) {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  process.on('SIGUSR2', () => {
    collect();
    const { heapUsed, external, rss } = process.memoryUsage();
    appendFileSync(file, `${heapUsed + external} ${rss}\n`);
  });
}
