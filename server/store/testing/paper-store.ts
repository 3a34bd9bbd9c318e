import type { WalSource } from '../integrity/scan-wal.ts';

/** Small, so that thousands of stores take a moment; frames meet the borders of sectors as larger ones do. */
const PAGE = 512;
const SECTOR = 512;
const HEADER = 32;
const FRAME_HEADER = 24;
const MAX_PAGES = 60;

export interface PaperFiles {
  readonly log: Buffer;
  readonly database: Buffer;
}

type Random = (below: number) => number;
type FileName = keyof PaperFiles;
type Change = { readonly offset: number; readonly data: Buffer } | { readonly truncateTo: number };
type PaperEvent =
  | { readonly file: FileName; readonly change: Change }
  | { readonly file: FileName; readonly change: 'sync' }
  /** From here on this content is promised. */
  | { readonly committed: Buffer };

export interface PaperCut {
  readonly files: PaperFiles;
  /** The content that was acknowledged, and the one that would have been next. */
  readonly promised: Buffer;
  readonly next: Buffer | undefined;
}

export const sourceOf = (bytes: Buffer): WalSource => ({
  size: bytes.length,
  read: (at, length) => bytes.subarray(at, at + length),
});

export function emptyFiles(): PaperFiles {
  const database = Buffer.alloc(PAGE);
  database.writeUInt16BE(PAGE, 16);
  return { log: Buffer.alloc(0), database };
}

/** SQLite makes this of the files: every commit of the log up to the first frame that is none. */
export function recover({ log, database }: PaperFiles) {
  const inLog = new Set<number>();
  let content = database;
  let pages = new Map<number, Buffer>();
  let frames = 0;
  let sum = sumOf([0, 0], log.subarray(0, 24));
  if (log.length < HEADER || !sum.equals(log.subarray(24, HEADER)))
    return { content, frames, inLog };
  const salts = log.subarray(16, 24);
  for (let at = HEADER; at + FRAME_HEADER + PAGE <= log.length; at += FRAME_HEADER + PAGE) {
    const data = log.subarray(at + FRAME_HEADER, at + FRAME_HEADER + PAGE);
    sum = sumOf([sum.readUInt32BE(0), sum.readUInt32BE(4)], log.subarray(at, at + 8), data);
    const isGood =
      log.subarray(at + 8, at + 16).equals(salts) && log.subarray(at + 16, at + 24).equals(sum);
    if (!isGood) break;
    pages.set(log.readUInt32BE(at), data);
    const pagesAfter = log.readUInt32BE(at + 4);
    if (pagesAfter === 0) continue;
    content = withPages(content, pages, pagesAfter);
    for (const page of pages.keys()) inLog.add(page);
    pages = new Map();
    frames = (at - HEADER) / (FRAME_HEADER + PAGE) + 1;
  }
  return { content, frames, inLog };
}

/**
 * What a server does to its files from a start on, as SQLite does it with
 * synchronous=FULL: commits, checkpoints, and logs that begin anew over the old
 * frames.
 */
export function recordWrites(files: PaperFiles, random: Random, steps: number): PaperEvent[] {
  const events: PaperEvent[] = [];
  const put = (file: FileName, offset: number, data: Buffer) =>
    events.push({ file, change: { offset, data } });
  const sync = (file: FileName) => events.push({ file, change: 'sync' });
  let { content, frames, inLog } = recover(files);
  let salts: Buffer = Buffer.alloc(8);
  let sum: Buffer = Buffer.alloc(8);
  events.push({ committed: content });

  function checkpoint(): void {
    sync('log');
    const pages = pagesOf(content);
    for (const page of inLog) {
      const data = pages.get(page);
      if (data) put('database', (page - 1) * PAGE, data);
    }
    events.push({ file: 'database', change: { truncateTo: content.length } });
    sync('database');
    frames = 0;
    inLog = new Set();
  }

  function start(): void {
    if (frames > 0) checkpoint();
    events.push({ file: 'log', change: { truncateTo: 0 } });
    sync('log');
  }

  function beginLog(): void {
    const header = Buffer.alloc(HEADER);
    for (const [at, word] of [0x377f0682, 3_007_000, PAGE].entries()) {
      header.writeUInt32BE(word, 4 * at);
    }
    salts = Buffer.from(Array.from({ length: 8 }, () => random(256)));
    salts.copy(header, 16);
    sum = sumOf([0, 0], header.subarray(0, 24));
    sum.copy(header, 24);
    put('log', 0, header);
    sync('log');
  }

  function commit(): void {
    if (frames === 0) beginLog();
    const pagesAfter = Math.max(1, Math.min(MAX_PAGES, content.length / PAGE + random(5) - 1));
    const changed = new Map<number, Buffer>();
    for (let count = 1 + random(random(8) === 0 ? 30 : 5); count > 0; count -= 1) {
      changed.set(1 + random(pagesAfter), Buffer.alloc(PAGE, random(256)));
    }
    for (let page = content.length / PAGE + 1; page <= pagesAfter; page += 1) {
      changed.set(page, Buffer.alloc(PAGE, random(256)));
    }
    for (const [page, data] of changed) if (page === 1) data.writeUInt16BE(PAGE, 16);
    const last = [...changed.keys()].at(-1);
    for (const [page, data] of changed) {
      const at = HEADER + frames * (FRAME_HEADER + PAGE);
      put('log', at, frameHeader(page, page === last ? pagesAfter : 0, data));
      put('log', at + FRAME_HEADER, data);
      inLog.add(page);
      frames += 1;
    }
    sync('log');
    content = withPages(content, changed, pagesAfter);
    events.push({ committed: content });
  }

  function frameHeader(page: number, pagesAfter: number, data: Buffer): Buffer {
    const header = Buffer.alloc(FRAME_HEADER);
    header.writeUInt32BE(page, 0);
    header.writeUInt32BE(pagesAfter, 4);
    salts.copy(header, 8);
    const before = [sum.readUInt32BE(0), sum.readUInt32BE(4)] as const;
    sum = sumOf(before, header.subarray(0, 8), data);
    sum.copy(header, 16);
    return header;
  }

  start();
  for (let step = 0; step < steps; step += 1) {
    if (frames === 0 || random(8) > 0) commit();
    else checkpoint();
  }
  return events;
}

/**
 * The files as a power cut after some of the events leaves them: each change
 * that was not synced is there, or not, or in part, sector by sector, with the
 * old content or with garbage in the place of what is missing.
 */
export function cutPower(
  files: PaperFiles,
  events: readonly PaperEvent[],
  random: Random,
): PaperCut {
  const at = pickMoment(events, random);
  const disk: Record<FileName, Buffer> = {
    log: Buffer.from(files.log),
    database: Buffer.from(files.database),
  };
  const pending: Record<FileName, Change[]> = { log: [], database: [] };
  let promised = files.database;
  for (const event of events.slice(0, at)) {
    if ('committed' in event) promised = event.committed;
    else if (event.change !== 'sync') pending[event.file].push(event.change);
    else {
      for (const change of pending[event.file].splice(0)) apply(disk, event.file, change);
    }
  }
  const share = random(101);
  for (const file of ['log', 'database'] as const) {
    for (const change of pending[file]) {
      for (const part of whatIsLeft(change, random, share)) apply(disk, file, part);
    }
  }
  const next = events.slice(at).find((event) => 'committed' in event);
  return { files: disk, promised, next: next && 'committed' in next ? next.committed : undefined };
}

/** Now and then while a log begins, which is soon over. */
function pickMoment(events: readonly PaperEvent[], random: Random): number {
  const begins = events.flatMap((event, index) => (isLogHeader(event) ? [index + 1] : []));
  const picked = random(4) === 0 ? begins[random(begins.length)] : undefined;
  return picked ?? 1 + random(events.length);
}

const isLogHeader = (event: PaperEvent): boolean =>
  'file' in event &&
  event.file === 'log' &&
  event.change !== 'sync' &&
  'data' in event.change &&
  event.change.data.length === HEADER;

/** `share`: how many of a hundred sectors are written. */
function whatIsLeft(change: Change, random: Random, share: number): Change[] {
  const fate = random(10);
  if (fate < 3) return [change];
  if (fate < 5 || !('data' in change)) return [];
  const left: Change[] = [];
  const { offset, data } = change;
  for (let at = 0; at < data.length; ) {
    const end = Math.min(data.length, at + SECTOR - ((offset + at) % SECTOR));
    if (random(100) < share) left.push({ offset: offset + at, data: data.subarray(at, end) });
    else if (fate > 6) {
      left.push({ offset: offset + at, data: Buffer.alloc(end - at, 1 + random(255)) });
    }
    at = end;
  }
  return left;
}

function apply(disk: Record<FileName, Buffer>, file: FileName, change: Change): void {
  const bytes = disk[file];
  const end = 'data' in change ? change.offset + change.data.length : change.truncateTo;
  const isLonger = end > bytes.length;
  if (isLonger) disk[file] = Buffer.concat([bytes, Buffer.alloc(end - bytes.length)]);
  if ('data' in change) change.data.copy(disk[file], change.offset);
  else if (!isLonger) disk[file] = bytes.subarray(0, end);
}

const pagesOf = (content: Buffer): Map<number, Buffer> =>
  new Map(
    Array.from({ length: content.length / PAGE }, (_, index) => [
      index + 1,
      content.subarray(index * PAGE, (index + 1) * PAGE),
    ]),
  );

function withPages(content: Buffer, pages: ReadonlyMap<number, Buffer>, count: number): Buffer {
  const made = Buffer.alloc(count * PAGE);
  content.copy(made);
  for (const [page, data] of pages) if (page <= count) data.copy(made, (page - 1) * PAGE);
  return made;
}

/** SQLite's own sum, of words as a little-endian processor reads them. */
function sumOf([first, second]: readonly [number, number], ...parts: readonly Buffer[]): Buffer {
  let [a, b] = [first, second];
  for (const part of parts) {
    for (let at = 0; at < part.length; at += 8) {
      a = (a + part.readUInt32LE(at) + b) >>> 0;
      b = (b + part.readUInt32LE(at + 4) + a) >>> 0;
    }
  }
  const sum = Buffer.alloc(8);
  sum.writeUInt32BE(a, 0);
  sum.writeUInt32BE(b, 4);
  return sum;
}
