import type { Random } from '../random.ts';
import { createGrowingBytes, type GrowingBytes } from './growing-bytes.ts';
import { type DiskEvent, readShimLog } from './shim-log.ts';

/** Writes are torn between sectors. */
const SECTOR = 512;

/** `at`: after how many events of all it was made. */
type Change = { readonly at: number } & (
  | { readonly offset: number; readonly data: Buffer }
  | { readonly truncateTo: number }
);

/** A file as it is on disk, and what was done to it and not synced. */
interface DiskFile {
  readonly content: GrowingBytes;
  pending: Change[];
  /** How much of `pending` a sync that is under way covers. */
  syncing: number;
}

type NameChange = {
  readonly at: number;
  readonly path: string;
  readonly file: DiskFile | undefined;
};

export interface PowerCut {
  readonly files: Map<string, Buffer>;
  /** Changes that were not synced, and how many of them are not as they were made. */
  readonly unsynced: number;
  readonly lost: number;
}

/**
 * The state of a disk after a power cut: what was synced is there. Each change
 * that was not is there, or missing, or torn between sectors, or, with
 * `garbage`, something else. A new file's name is on disk with the file's sync,
 * other changes of names with the directory's; of those that were not synced
 * some, from the oldest on, may be there. With `losesSince` nothing of it is left to
 * chance: what was not synced is there when it is older, and missing when not.
 */
export function replayDisk(options: {
  readonly before: ReadonlyMap<string, Buffer>;
  /** The logs of the processes, one after another. */
  readonly logs: readonly Buffer[];
  readonly random: Random;
  readonly garbage: boolean;
  /** How many events there are before the cut; all, when it is not given. */
  readonly until?: number;
  /** A number of events. */
  readonly losesSince?: number | undefined;
}): PowerCut {
  const { random, garbage, losesSince, until = Number.POSITIVE_INFINITY } = options;
  const toFile = (first: Buffer): DiskFile => ({
    content: createGrowingBytes(first),
    pending: [],
    syncing: 0,
  });
  const onDisk = new Map([...options.before].map(([path, content]) => [path, toFile(content)]));
  const names = new Map(onDisk);
  let nameChanges: NameChange[] = [];
  let [unsynced, lost, at] = [0, 0, 0];

  function setName(path: string, file: DiskFile | undefined): void {
    const change = { at, path, file };
    nameChanges.push(change);
    applyName(names, change);
  }

  function play(log: Buffer): void {
    const opened = new Map<number, DiskFile | 'directory'>();
    for (const event of readShimLog(log)) {
      if (at >= until) return;
      at += 1;
      take(event, opened);
    }
  }

  function take(event: DiskEvent, opened: Map<number, DiskFile | 'directory'>): void {
    if (event.op === 'rename') {
      const file = names.get(event.path);
      setName(event.path, undefined);
      setName(event.to, file);
    } else if (event.op === 'unlink') setName(event.path, undefined);
    else if (event.op === 'open') {
      opened.set(event.id, event.isDir ? 'directory' : open(event));
    } else {
      const file = opened.get(event.id);
      if (file === 'directory') {
        if (event.op === 'sync-end') syncNames(() => true);
      } else if (file) change(file, event);
    }
  }

  function open(event: Extract<DiskEvent, { op: 'open' }>): DiskFile {
    const known = names.get(event.path);
    if (known && !event.isNew) {
      if (event.truncates) known.pending.push({ at, truncateTo: 0 });
      return known;
    }
    const file = toFile(Buffer.alloc(0));
    setName(event.path, file);
    return file;
  }

  function change(file: DiskFile, event: DiskEvent): void {
    if (event.op === 'write') file.pending.push({ at, offset: event.offset, data: event.data });
    else if (event.op === 'truncate') file.pending.push({ at, truncateTo: event.length });
    else if (event.op === 'sync-begin') file.syncing = file.pending.length;
    else if (event.op === 'sync-end') {
      for (const one of file.pending.splice(0, file.syncing)) apply(file.content, one);
      file.syncing = 0;
      syncNames((name) => name.file === file);
    }
  }

  function syncNames(isMeant: (change: NameChange) => boolean): void {
    for (const one of nameChanges) if (isMeant(one)) applyName(onDisk, one);
    nameChanges = nameChanges.filter((one) => !isMeant(one));
  }

  function settle(file: DiskFile): Buffer {
    // Some systems write in order, some late and all at once, some as it comes.
    const order = random.pick(['none', 'prefix', 'any', 'any'] as const);
    const kept = order === 'prefix' ? random.between(0, file.pending.length) : 0;
    for (const [index, one] of file.pending.entries()) {
      unsynced += 1;
      const isKept = losesSince === undefined ? index < kept : one.at <= losesSince;
      const isAny = losesSince === undefined && order === 'any';
      const left = isAny ? whatIsLeft(one, random, garbage) : isKept ? [one] : [];
      if (left.length !== 1 || left[0] !== one) lost += 1;
      for (const part of left) apply(file.content, part);
    }
    file.pending = [];
    return file.content.toBuffer();
  }

  for (const log of options.logs) play(log);
  const kept = random.between(0, nameChanges.length);
  for (const [index, one] of nameChanges.entries()) {
    if (losesSince === undefined ? index < kept : one.at <= losesSince) applyName(onDisk, one);
  }
  const files = new Map([...onDisk].map(([path, file]) => [path, settle(file)]));
  return { files, unsynced, lost };
}

function applyName(names: Map<string, DiskFile>, { path, file }: NameChange): void {
  if (file) names.set(path, file);
  else names.delete(path);
}

function whatIsLeft(change: Change, random: Random, garbage: boolean): Change[] {
  const fate = random.next();
  if (fate < 0.35) return [change];
  if (fate < 0.65 || !('data' in change)) return [];
  const isGarbage = garbage && fate >= 0.8;
  const { at: madeAt, offset, data } = change;
  const left: Change[] = [];
  for (let at = 0; at < data.length; ) {
    const end = Math.min(data.length, at + SECTOR - ((offset + at) % SECTOR));
    if (random.chance(0.5))
      left.push({ at: madeAt, offset: offset + at, data: data.subarray(at, end) });
    else if (isGarbage)
      left.push({ at: madeAt, offset: offset + at, data: random.bytes(end - at) });
    at = end;
  }
  return left;
}

function apply(content: GrowingBytes, change: Change): void {
  if ('data' in change) content.write(change.offset, change.data);
  else content.truncate(change.truncateTo);
}
