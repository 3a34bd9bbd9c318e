import { fdatasync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const RECORD = Buffer.alloc(4096, 'x');

/**
 * A record on disk, as cheaply as it can be had: appended to one file, and one
 * fsync for all that wait in the same moment. No database reaches less.
 */
export function createBarrier() {
  const dir = mkdtempSync(join(tmpdir(), 'callboard-fsync-'));
  const file = openSync(join(dir, 'log'), 'a');
  let waiting: (() => void)[] = [];
  let isSyncing = false;

  function sync(): void {
    if (isSyncing || waiting.length === 0) return;
    isSyncing = true;
    const group = waiting;
    waiting = [];
    fdatasync(file, (error) => {
      if (error) throw error;
      isSyncing = false;
      for (const done of group) done();
      setImmediate(sync);
    });
  }

  return {
    durable(): Promise<void> {
      writeSync(file, RECORD);
      if (waiting.length === 0) setImmediate(sync);
      return new Promise((resolve) => waiting.push(resolve));
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}
