import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Half of a largest result. */
const COLLECT_EVERY_BYTES = 4 * 1024 * 1024;

export type Collector = ReturnType<typeof createCollector>;

/**
 * Collects garbage once in a while of large values. V8 lets dead texts of many
 * MiB lie until its heap has doubled; of results of 8 MiB, with several copies
 * of each on their way to the disk, that comes to hundreds of MiB.
 */
export function createCollector(collect = exposedGc) {
  let bytes = 0;
  return {
    /** So many bytes of large values are of no use any more. */
    used(more: number): void {
      bytes += more;
      if (bytes < COLLECT_EVERY_BYTES) return;
      bytes = 0;
      collect();
    },
  };
}

/**
 * Lets the heap grow to 2.5 times what was in use at the last collection, where V8 lets it grow to
 * four times: under load old events and ended calls would else lie for 70 MiB more. To be called
 * once, at the start.
 */
export const boundHeapGrowth = (): void => setFlagsFromString('--heap-growing-percent=150');

let gc: (() => void) | undefined;

function exposedGc(): void {
  if (!gc) {
    // The flag counts for contexts that are made from now on.
    setFlagsFromString('--expose-gc');
    gc = runInNewContext('gc');
  }
  gc?.();
}
