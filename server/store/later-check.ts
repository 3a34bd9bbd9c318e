import { Worker } from 'node:worker_threads';
import { StoreDamagedError } from './store-damaged-error.ts';

/**
 * Reads every page and row of a store that was opened on trust, while it is in
 * use. Resolves when all is as it was written, or when it was stopped; rejects
 * with `StoreDamagedError`.
 */
export function checkLater(options: {
  readonly file: string;
  /** `check-worker.ts`, or what it was built to. */
  readonly workerPath: string | URL;
}): { readonly done: Promise<void>; stop(): Promise<void> } {
  const { file } = options;
  const worker = new Worker(options.workerPath, { workerData: { file } });
  worker.unref(); // It keeps no process alive.
  const done = new Promise<void>((resolve, reject) => {
    worker.once('message', (problem: string | undefined) => {
      if (problem === undefined) resolve();
      else reject(new StoreDamagedError(file, problem));
    });
    worker.once('error', reject);
    worker.once('exit', () => resolve());
  });
  return {
    done,
    async stop() {
      await worker.terminate();
    },
  };
}
