import { open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Leftovers of a process that died in the middle; the owner of the directory may delete them. */
export const TEMPORARY = /\.tmp$/;

let written = 0;

/**
 * Writes a file so that after a crash it is there whole or not at all: a
 * temporary one is fsynced and renamed, and then the directory is fsynced.
 */
export async function writeDurably(
  dir: string,
  name: string,
  bytes: Uint8Array,
  mode = 0o600,
): Promise<void> {
  written += 1;
  const temporary = join(dir, `${name}.${process.pid}.${written}.tmp`);
  try {
    await writeFile(temporary, bytes, { flag: 'wx', mode, flush: true });
    await rename(temporary, join(dir, name));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncDirectory(dir);
}

async function syncDirectory(dir: string): Promise<void> {
  if (process.platform === 'win32') return; // It has no such thing, and keeps names durable itself.
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
