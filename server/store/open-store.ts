import type { Logger } from '../logger.ts';
import { markCleanEnd, takeCleanEnd } from './clean-end.ts';
import { salvageStore } from './integrity/salvage-store.ts';
import { checkLater } from './later-check.ts';
import { createSqliteStore } from './sqlite-store.ts';
import type { Store } from './store.ts';
import { StoreDamagedError } from './store-damaged-error.ts';

export interface OpenedStore {
  readonly store: Store;
  /**
   * Once the server serves: what a start on trust left unread is read now. Calls
   * back, once, when it is damaged; the store should then be closed.
   */
  checkLater(onDamaged: (damage: StoreDamagedError) => void): void;
  /** Closes the store. What was written without trouble is trusted by the next start. */
  close(): Promise<void>;
}

/** The store of a data directory, as a server uses it: from its start, over a salvage, to its end. */
export function openStore(options: {
  readonly file: string;
  /** First bring what can be read of a damaged one. */
  readonly salvage: boolean;
  now(): number;
  /** Where the code of a thread lies, by its name. */
  workerPath(name: 'check-worker' | 'read-worker' | 'write-worker'): string;
  readonly logger: Logger;
  onCommitted?(seconds: number): void;
  onFailed(error: Error): void;
}): OpenedStore {
  const { file, salvage, now, workerPath, logger, onCommitted, onFailed } = options;
  if (salvage) for (const line of salvageStore({ file, now })) logger.info(line);
  const isTrusted = takeCleanEnd(file);
  const store = createSqliteStore({
    file,
    isTrusted,
    workerPath: workerPath('write-worker'),
    readWorkerPath: workerPath('read-worker'),
    log: logger.info,
    onFailed,
    ...(onCommitted && { onCommitted }),
  });
  let check: ReturnType<typeof checkLater> | undefined;
  let isDamaged = false;
  return {
    store,
    checkLater(onDamaged) {
      if (!isTrusted) return;
      check = checkLater({ file, workerPath: workerPath('check-worker') });
      check.done.catch((error: unknown) => {
        isDamaged = error instanceof StoreDamagedError;
        if (error instanceof StoreDamagedError) onDamaged(error);
        else logger.error(error); // It could not be read to its end; each row still is when it is asked for.
      });
    },
    async close() {
      await check?.stop(); // First: the last connection that closes puts the log into the database.
      await store.close();
      if (!store.failed && !isDamaged) await markCleanEnd(file);
    },
  };
}
