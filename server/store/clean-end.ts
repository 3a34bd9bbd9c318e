import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMissing } from '#lib/util/is-missing';
import { fileSize } from './integrity/file-bytes.ts';

/**
 * Beside the database, which file a server left when it ended as it should. As
 * long as that very file is there, unchanged, a start need not read all of it
 * before it serves: what every page and row is was settled by those who wrote
 * them. The whole check follows while the server runs (rule ST60).
 */
const cleanEndFile = (file: string): string => `${file}.clean`;

/** The clock of a file system moves in steps; a change within the step of the last one would not show. */
const STEP_MS = 25;

/** To be called when the store is closed, and nothing of it failed. */
export async function markCleanEnd(file: string): Promise<void> {
  const changedAt = statSync(file).ctimeMs;
  await sleep(Math.max(0, changedAt + STEP_MS - Date.now()));
  writeFileSync(cleanEndFile(file), identityOf(file), { mode: 0o600 });
}

/** Whether the file is as a clean end left it. It counts once: what ends this process may be no clean end. */
export function takeCleanEnd(file: string): boolean {
  const marked = readIfThere(cleanEndFile(file));
  if (marked === undefined) return false;
  rmSync(cleanEndFile(file), { force: true });
  const hasLog = [`${file}-wal`, `${file}-journal`].some((name) => (fileSize(name) ?? 0) > 0);
  return !hasLog && fileSize(file) !== undefined && marked === identityOf(file);
}

/** Which file, and when it was changed last. A copy is another file, and its time cannot be set. */
function identityOf(file: string): string {
  const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
  return `${[dev, ino, size, mtimeNs, ctimeNs].join(' ')}\n`;
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
