import { ROOT, SERVER, say } from './project.mjs';
import { runChild, SIGNALS, watchAncestors } from './run-child.mjs';

/** node:sqlite and type stripping work; that they are young is no news for who runs the server. */
export const QUIET_NODE = '--disable-warning=ExperimentalWarning';

/** The built server's young garbage is collected at 16 MiB, which saves some 30 MiB that it would hold. */
export const SERVER_FLAGS = [QUIET_NODE, '--max-semi-space-size=16'];

/**
 * These are for glibc, which else keeps what large messages have freed: blocks from 128 KiB on go back to the
 * system at once, also after the first ones were freed, and threads share two arenas.
 */
export const SERVER_MEMORY = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
};

/** The server's own number for a disk that it could not write to (server/store/integrity/describe-end.ts). */
const STORE_FAILED = 74;
const LONGEST_PAUSE_S = 30;
/** A server that ran for this long was well: the next pause is a short one again. */
const WELL_AFTER_MS = 60_000;

/**
 * Runs what is built until it ends; gives its exit code.
 *
 * @param {import('./project.mjs').Setup} setup
 * @param {{ openBrowser: boolean, args: readonly string[], cwd?: string }} options `cwd`: where the
 *   data directory and the configuration are looked for
 */
export function runBuiltServer({ node, env }, { openBrowser, args, cwd = ROOT }) {
  let first = true;
  return restartAfterDiskTrouble(() => {
    const open = openBrowser && first ? { CALLBOARD_OPEN: '1' } : {};
    // A damaged store is salvaged once; how the server is reached stays.
    const more = first ? args : args.filter((argument) => argument !== '--salvage');
    first = false;
    return runChild({
      command: node,
      args: [...SERVER_FLAGS, SERVER, ...more],
      env: { ...SERVER_MEMORY, ...env, NODE_ENV: 'production', ...open },
      cwd,
      output: 'channel',
    });
  });
}

/**
 * A server that could not write ends, as only a start finds out what is on disk. So it is started
 * again, after 1, 2, 4 … 30 seconds, until it ends for another reason or the launcher is told to.
 *
 * @param {() => Promise<{ code: number, told: boolean }>} run
 * @param {(seconds: number) => Promise<boolean>} [pause] says whether the launcher was told to end
 */
export async function restartAfterDiskTrouble(run, pause = pauseUnlessTold) {
  for (let seconds = 1; ; seconds = Math.min(seconds * 2, LONGEST_PAUSE_S)) {
    const startedAt = performance.now();
    const { code, told } = await run();
    if (code !== STORE_FAILED || told) return code;
    if (performance.now() - startedAt > WELL_AFTER_MS) seconds = 1;
    say(`the disk could not be written; starting again in ${seconds} s …`);
    if (await pause(seconds)) return code;
  }
}

/** @param {number} seconds @returns {Promise<boolean>} */
function pauseUnlessTold(seconds) {
  return new Promise((resolve) => {
    /** @param {boolean} told */
    const end = (told) => {
      clearTimeout(timer);
      unwatch();
      for (const signal of SIGNALS) process.off(signal, tell);
      resolve(told);
    };
    const tell = () => end(true);
    const timer = setTimeout(() => end(false), seconds * 1_000);
    const unwatch = watchAncestors(tell);
    for (const signal of SIGNALS) process.on(signal, tell);
  });
}
