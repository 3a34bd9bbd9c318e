import { stat } from 'node:fs/promises';

const EACH_MS = 1_000;

/**
 * Calls back when a file was written, replaced, made or deleted, and once at the beginning, for a
 * change since it was read. It is looked at each second: events of the file system are lost on some,
 * and end with a file that an editor replaces.
 */
export function followFile(file: string, onChange: () => void, eachMs = EACH_MS): () => void {
  let seen: string | undefined;
  const timer = setInterval(async () => {
    const now = await stampOf(file);
    if (now === seen) return;
    seen = now;
    onChange();
  }, eachMs).unref();
  return () => clearInterval(timer);
}

const stampOf = (file: string): Promise<string> =>
  stat(file).then(
    ({ mtimeMs, ino, size }) => `${mtimeMs} ${ino} ${size}`,
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  );
