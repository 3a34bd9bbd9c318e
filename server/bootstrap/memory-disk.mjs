import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

/** Where Linux has a file system in memory. */
const SHARED_MEMORY = '/dev/shm';

/** Tests were seen to fill 100 MiB; Chromium has its shared memory there, too. */
const ROOM = 2 * 1024 ** 3;

/** What is in it takes memory that tests need as well. */
const SPARE_MEMORY = 4 * 1024 ** 3;

/**
 * A folder for the temporary files of tests that are not about what a disk keeps over a power cut:
 * they wait for a disk some ten thousand times, which in memory takes no time. Without enough room
 * for it, they have the folder of the system as before.
 *
 * @param {import('./project.mjs').Environment} env
 * @param {{ folder?: string, room?: number, spare?: number }} [place]
 * @returns {{ env: import('./project.mjs').Environment, remove: () => void }}
 */
export function onMemoryDisk(
  env,
  { folder = SHARED_MEMORY, room = ROOM, spare = SPARE_MEMORY } = {},
) {
  if (env.TMPDIR !== undefined || !hasRoom(folder, room) || process.availableMemory() < spare) {
    return { env, remove() {} };
  }
  const own = mkdtempSync(join(folder, 'callboard-tests-'));
  const drop = () => rmSync(own, { recursive: true, force: true });
  // Also when the checks are cut short: it is memory that nothing else would free.
  process.once('exit', drop);
  return {
    env: { ...env, TMPDIR: own },
    remove() {
      process.off('exit', drop);
      drop();
    },
  };
}

/** @param {string} folder @param {number} room */
function hasRoom(folder, room) {
  if (!existsSync(folder)) return false;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize >= room;
}
