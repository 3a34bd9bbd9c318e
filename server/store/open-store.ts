import { execFile } from 'node:child_process';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { Logger } from '../base/logger.ts';
import { rebuiltFile } from './integrity/check-store-file.ts';
import { fileSize } from './integrity/file-bytes.ts';
import { salvageStore } from './integrity/salvage-store.ts';
import { createSqliteStore } from './sqlite-store.ts';
import { StoreDamagedError } from './store-errors.ts';
import { readMark } from './store-mark.ts';

const answerSchema = z.object({ problem: z.string().nullable() });

/**
 * Reads every page and row of a store that was opened on trust, while it is in
 * use: in a process of its own, as SQLite cannot be stopped in the middle, and of
 * the lowest priority. Resolves when all is as it was written, or when it was
 * stopped; rejects with `StoreDamagedError`, or when it could not be read.
 */
function checkLater(options: {
  readonly file: string;
  /** `check-worker.ts`, or what it was built to. */
  readonly workerPath: string;
}): { readonly done: Promise<void>; stop(): Promise<void> } {
  const { file, workerPath } = options;
  const flags = ['--disable-warning=ExperimentalWarning'];
  // It needs nothing of the environment, which has secrets.
  const ended = promisify(execFile)(process.execPath, [...flags, workerPath, file], {
    env: { NODE_ENV: 'production' },
  });
  const { child } = ended;
  let isStopped = false;
  if (child.pid !== undefined) lowerPriority(child.pid);

  async function finish(): Promise<void> {
    try {
      const { problem } = answerSchema.parse(JSON.parse((await ended).stdout));
      if (problem !== null) throw new StoreDamagedError(file, problem);
    } catch (error) {
      if (!isStopped) throw error;
    }
  }

  return {
    done: finish(),
    async stop() {
      isStopped = true;
      child.kill('SIGKILL');
      await ended.catch(() => {}); // `done` has the error.
    },
  };
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // Not every system lets it; then it takes its share.
  }
}

/**
 * Beside the database, by what a start knows the file that a server left: it reads all of it only
 * while it serves then (rule ST60). After a clean end that is the very file, unchanged; after a crash
 * the same file in the same boot of the system: without a power loss, what was written is there.
 */
const trustFile = (file: string): string => `${file}.clean`;

/** The clock of a file system moves in steps; a change within the step of the last one would not show. */
const STEP_MS = 25;

/** To be called when the store is closed, and nothing of it failed. */
export async function markCleanEnd(file: string): Promise<void> {
  const changedAt = statSync(file).ctimeMs;
  await sleep(Math.max(0, changedAt + STEP_MS - Date.now()));
  writeFileSync(trustFile(file), identityOf(file), { mode: 0o600 });
}

/** Says whether the file is the one that was left, and no power was lost since. It counts once. */
function takeTrust(file: string): boolean {
  const marked = readIfThere(trustFile(file));
  rmSync(trustFile(file), { force: true });
  if (marked === undefined || fileSize(file) === undefined) return false;
  // Without the mark, commits that are missing would not be missed.
  if (marked === runningIdentityOf(file)) return (readMark(file) ?? 0) > 0;
  const hasLog = [`${file}-wal`, `${file}-journal`].some((name) => (fileSize(name) ?? 0) > 0);
  return !hasLog && marked === identityOf(file);
}

/** Which file, and when it was changed last. A copy is another file, and its time cannot be set. */
function identityOf(file: string): string {
  const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
  return `${[dev, ino, size, mtimeNs, ctimeNs].join(' ')}\n`;
}

/**
 * Which file, and of which boot of the system; undefined where the system does not tell. The number
 * of a file that was removed is given again, the time of its birth is not.
 */
function runningIdentityOf(file: string): string | undefined {
  const boot = readIfThere('/proc/sys/kernel/random/boot_id')?.trim();
  const { dev, ino, birthtimeNs } = statSync(file, { bigint: true });
  return boot && birthtimeNs > 0n ? `boot ${[boot, dev, ino, birthtimeNs].join(' ')}\n` : undefined;
}

/** A file that cannot be read says nothing; a start then reads all of the store first. */
function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return undefined;
  }
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
}) {
  const { file, salvage, now, workerPath, logger, onCommitted, onFailed } = options;
  if (salvage) {
    for (const line of salvageStore({ file, now, report: logger.info })) logger.info(line);
  }
  rmSync(rebuiltFile(file), { force: true }); // A rebuild may have been ended by force.
  const isTrusted = takeTrust(file);
  /** The file may lack what was written: the next start reads all of it, however this one ends. */
  const distrust = () => {
    try {
      rmSync(trustFile(file), { force: true });
    } catch (error) {
      logger.error(error);
    }
  };
  const store = createSqliteStore({
    file,
    isTrusted,
    workerPath,
    log: logger.info,
    onFailed(error) {
      distrust(); // A sync that failed may have dropped what was written from memory, too.
      onFailed(error);
    },
    ...(onCommitted && { onCommitted }),
  });
  // Only now: until it is open, nobody has looked at what is there.
  const running = runningIdentityOf(file);
  if (running !== undefined) writeFileSync(trustFile(file), running, { mode: 0o600 });
  let check: ReturnType<typeof checkLater> | undefined;
  let isDamaged = false;
  return {
    store,
    /**
     * Once the server serves: what a start on trust left unread is read now. Calls back, once, when it
     * is damaged; the store should then be closed.
     */
    checkLater(onDamaged: (damage: StoreDamagedError) => void): void {
      if (!isTrusted) return;
      check = checkLater({ file, workerPath: workerPath('check-worker') });
      check.done.catch((error: unknown) => {
        // It could not be read to its end; each row still is when it is asked for.
        if (!(error instanceof StoreDamagedError)) return logger.error(error);
        isDamaged = true;
        distrust();
        onDamaged(error);
      });
    },
    /** Closes the store. What was written without trouble is trusted by the next start. */
    async close(): Promise<void> {
      await check?.stop(); // First: the last connection that closes puts the log into the database.
      await store.close();
      if (!store.failed && !isDamaged) await markCleanEnd(file);
    },
  };
}
