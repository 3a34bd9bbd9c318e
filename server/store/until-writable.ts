import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** More than a log and what the next commits need, so that a start is worth it. */
const PROBE_BYTES = 8 * 1024 * 1024;

/**
 * Resolves once the disk takes a file and syncs it again, asked after 1, 2, 4 … 30
 * seconds; never before the first pause. It touches no file of the store.
 */
export async function untilWritable(deps: {
  readonly dir: string;
  readonly pause: (ms: number) => Promise<void>;
}): Promise<void> {
  for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(ms * 2, LONGEST_PAUSE_MS)) {
    await deps.pause(ms);
    if (await isWritable(join(deps.dir, 'disk-probe.tmp'))) return;
  }
}

async function isWritable(probe: string): Promise<boolean> {
  try {
    const file = await open(probe, 'w', 0o600);
    try {
      await file.writeFile(Buffer.alloc(PROBE_BYTES, 1));
      await file.sync();
    } finally {
      await file.close();
    }
    return true;
  } catch {
    return false; // Still so: asked again after the next pause.
  } finally {
    await rm(probe, { force: true }).catch(() => {}); // The next probe writes over it.
  }
}
