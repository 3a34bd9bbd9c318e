import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Logger } from '../base/logger.ts';
import { fileSize } from './integrity/file-bytes.ts';
import { salvageStore } from './integrity/salvage-store.ts';
import { createSqliteStore } from './sqlite-store.ts';
import type { Store } from './store.ts';
import { StoreDamagedError } from './store-damaged-error.ts';
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
  const child = spawn(process.execPath, [...flags, workerPath, file], {
    env: { NODE_ENV: 'production' },
  });
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  const ended = once(child, 'close');
  let isStopped = false;
  if (child.pid !== undefined) lowerPriority(child.pid);

  async function finish(): Promise<void> {
    const [code] = await ended;
    if (isStopped) return;
    if (code !== 0) throw new Error(`the database could not be checked: ${textOf(errors)}`);
    const { problem } = answerSchema.parse(JSON.parse(textOf(output)));
    if (problem !== null) throw new StoreDamagedError(file, problem);
  }

  return {
    done: finish(),
    async stop() {
      isStopped = true;
      child.kill('SIGKILL');
      await ended.catch(() => {}); // It could not be started: `done` has the error.
    },
  };
}

const textOf = (chunks: readonly Buffer[]): string => Buffer.concat(chunks).toString('utf8');

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // Not every system lets it; then it takes its share.
  }
}

/**
 * Beside the database, by what a start knows the file that the server before left, so that it need
 * not read all of it before it serves; the whole check follows while the server runs (rule ST60).
 * After a clean end it is the very file, unchanged: what every page and row is was settled by those
 * who wrote them. After a crash it is the same file of the same boot of the system: no power was
 * lost, so what was written is there, on the disk or in the memory of the system.
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

/** Whether the file is the one that was left, and no power was lost since. It counts once. */
function takeTrust(file: string): boolean {
  const marked = readIfThere(trustFile(file));
  if (marked === undefined) return false;
  rmSync(trustFile(file), { force: true });
  if (fileSize(file) === undefined) return false;
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

/** What cannot be read says nothing; a start then reads all of the store first. */
function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return undefined;
  }
}

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
  const isTrusted = takeTrust(file);
  /** What was written is not what is there: the next start reads all of it, however this one ends. */
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
    workerPath: workerPath('write-worker'),
    readWorkerPath: workerPath('read-worker'),
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
    checkLater(onDamaged) {
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
    async close() {
      await check?.stop(); // First: the last connection that closes puts the log into the database.
      await store.close();
      if (!store.failed && !isDamaged) await markCleanEnd(file);
    },
  };
}
