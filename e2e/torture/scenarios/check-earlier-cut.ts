import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { checkStoreFile } from '../../../server/store/integrity/check-store-file.ts';
import { positionOf } from '../../../server/store/store-mark.ts';
import type { EarlierCut } from '../disk-shim/shimmed-disk.ts';
import type { Bad } from '../scenario.ts';

const DATABASE = 'callboard.db';
const MARK = `${DATABASE}.mark`;

/**
 * Without a server: the store that a cut at another moment would have left has
 * to pass the check of a start, and to hold each commit that was acknowledged.
 */
export function checkEarlierCut(
  { files, events }: EarlierCut,
  { dir, name }: { readonly dir: string; readonly name: string },
  bad: Bad,
): void {
  mkdirSync(dir, { recursive: true });
  try {
    for (const [path, content] of files) {
      if (
        dirname(path) === dirname([...files.keys()][0] ?? '') ||
        basename(path).startsWith(DATABASE)
      )
        writeFileSync(join(dir, basename(path)), content);
    }
    const file = join(dir, DATABASE);
    const check = checkStoreFile(file);
    if (check.kind === 'damaged') {
      return bad('HEALTH', `${name}: a power cut passes for damage: ${check.problem}`);
    }
    const [held, acknowledged] = [check.kind === 'new' ? 0 : commitsIn(file), lastMark(events)];
    if (held < acknowledged)
      bad('I1', `${name}: it holds ${held} commits, and ${acknowledged} were acknowledged`);
  } catch (error) {
    const after = JSON.stringify(events.at(-1));
    const detail = `${name}: the check of a start failed after ${events.length} events (${after}): ${error}`;
    bad('HEALTH', detail);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** The server wrote this down after each commit, before it told anybody. */
function lastMark(events: EarlierCut['events']): number {
  const ids = new Set<number>();
  let last = 0;
  for (const event of events) {
    // Numbers of open files begin anew with each process.
    if (event.op === 'open' && basename(event.path) !== MARK) ids.delete(event.id);
    if (event.op === 'open' && basename(event.path) === MARK) ids.add(event.id);
    if (event.op !== 'write' || !ids.has(event.id)) continue;
    const count = /^commits (\d+)/.exec(event.data.toString('latin1'))?.[1];
    last = Math.max(last, Number(count ?? 0));
  }
  return last;
}

function commitsIn(file: string): number {
  const database = new DatabaseSync(file);
  try {
    const isThere = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'log'").get();
    return isThere ? positionOf(database) : 0;
  } finally {
    database.close();
  }
}
