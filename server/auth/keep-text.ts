import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isMissing } from '#lib/util/is-missing';

/** A line of text in a file for its owner's eyes alone: the one that is there, else a new one, durably. */
export async function keepText(
  file: string,
  makeText: () => string,
): Promise<{ readonly text: string; readonly source: 'kept' | 'made' }> {
  const kept = await read(file);
  if (kept !== undefined) {
    // A copied or restored directory may have lost the mode.
    await chmod(file, 0o600);
    return { text: kept, source: 'kept' };
  }
  const text = makeText();
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, `${text}\n`, { flag: 'wx', mode: 0o600, flush: true });
  return { text, source: 'made' };
}

async function read(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
