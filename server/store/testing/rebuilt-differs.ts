import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rebuildStore } from '../integrity/rebuild-store.ts';
import { createSqliteStore } from '../sqlite-store.ts';
import { answersOf, differencesOf } from './store-answers.ts';

/**
 * Rebuilds a copy of a data directory from its log and documents, and holds what the store answers
 * then against what it answered before. Gives what was asked where it differs.
 */
export async function differencesOfRebuilt(dataDir: string): Promise<string[]> {
  const dir = mkdtempSync(join(tmpdir(), 'callboard-rebuilt-'));
  try {
    cpSync(dataDir, dir, { recursive: true });
    const before = await answersOfDir(dir);
    rebuildStore({ dir, report: () => {} });
    return differencesOf(before, await answersOfDir(dir));
  } finally {
    rmSync(dir, { recursive: true });
  }
}

async function answersOfDir(dir: string) {
  const store = createSqliteStore({ file: join(dir, 'callboard.db') });
  try {
    return await answersOf(store);
  } finally {
    await store.close();
  }
}
