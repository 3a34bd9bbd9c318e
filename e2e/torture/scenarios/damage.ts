import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../random.ts';

export type DamagedFile = 'callboard.db' | 'callboard.db-wal';

/** One thing that goes wrong with a store that lies on disk. */
export interface Damage {
  readonly name: string;
  /** A salvage loses nothing by it. */
  readonly isHarmless?: boolean;
  apply(dir: string): void;
}

function change(dir: string, file: DamagedFile, to: (bytes: Buffer) => Buffer): void {
  const path = join(dir, file);
  writeFileSync(path, to(readFileSync(path)));
}

const flipped = (bytes: Buffer, at: number, bit: number): Buffer => {
  bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at);
  return bytes;
};

/** At a place between 0 and 1 of the file, so that it fits whatever its size is. */
const placeIn = (bytes: Buffer, share: number): number =>
  Math.min(bytes.length - 1, Math.floor(bytes.length * share));

/**
 * Where this log ends in its file: behind it may lie frames of the one before, which other salts
 * tell apart. Nothing that is damaged there was ever needed.
 */
function logEnd(bytes: Buffer): number {
  const frame = frameBytes(bytes);
  const salts = (at: number) => bytes.subarray(at, at + 8);
  let at = LOG_HEAD_BYTES;
  while (at + frame <= bytes.length && salts(at + 8).equals(salts(16))) at += frame;
  return at;
}

const LOG_HEAD_BYTES = 32;
const frameBytes = (bytes: Buffer): number => bytes.readUInt32BE(8) + 24;

/** The kinds of the plan: one bit, a cut at a 64th byte, zeros, nothing. */
export function randomDamage(file: DamagedFile, random: Random): Damage {
  const share = random.next();
  const at = `${file} at ${(share * 100).toFixed(2)} %`;
  const fate = random.next();
  if (fate < 0.6) {
    const bit = random.between(0, 7);
    const apply = (dir: string) =>
      change(dir, file, (bytes) => flipped(bytes, placeIn(bytes, share), bit));
    return { name: `bit ${bit} of ${at} flipped`, apply };
  }
  if (fate < 0.9) {
    const cut = (bytes: Buffer) => bytes.subarray(0, Math.floor(placeIn(bytes, share) / 64) * 64);
    return { name: `${at} cut off`, apply: (dir) => change(dir, file, cut) };
  }
  if (fate < 0.97) {
    const zeros = (bytes: Buffer) => Buffer.alloc(bytes.length);
    return { name: `${file} is all zeros`, apply: (dir) => change(dir, file, zeros) };
  }
  return { name: `${file} is deleted`, apply: (dir) => rmSync(join(dir, file)) };
}

/** A letter in the middle of a call's text: no page and no index shows it, its row's checksum must. */
export const textDamage = (file: DamagedFile, text: string): Damage => ({
  name: `a letter of "${text}" changed in ${file}`,
  apply: (dir) =>
    change(dir, file, (bytes) => {
      for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) {
        flipped(bytes, at + text.length - 1, 0);
      }
      return bytes;
    }),
});

/** A bad frame amid good ones, and no mark that tells how many commits there were: as after a power cut. */
export const logDamage = (share: number): Damage => ({
  name: `a bit of callboard.db-wal at ${share} of it flipped, and the mark lost`,
  apply(dir) {
    change(dir, 'callboard.db-wal', (bytes) =>
      flipped(bytes, placeIn(bytes.subarray(0, logEnd(bytes)), share), 3),
    );
    rmSync(join(dir, 'callboard.db.mark'), { force: true });
  },
});

/** The log is cut where a commit ends: only the mark knows that there were more. */
export const commitsCutOff: Damage = {
  name: 'the last commits of callboard.db-wal are cut off where one ends',
  apply: (dir) =>
    change(dir, 'callboard.db-wal', (bytes) => {
      const frame = frameBytes(bytes);
      const frames = (logEnd(bytes) - LOG_HEAD_BYTES) / frame;
      let at = LOG_HEAD_BYTES + Math.floor(frames * 0.6) * frame;
      // A frame whose second word is not 0 ends a commit.
      while (at > LOG_HEAD_BYTES && bytes.readUInt32BE(at - frame + 4) === 0) at -= frame;
      return bytes.subarray(0, at);
    }),
};

const PAGE_BYTES = 4_096;
/** The first byte of a page that only leads to others, in a table with numbered rows. */
const INNER_PAGE = 5;

/** No call and no message is on such a page, and without it SQLite finds none of them. */
export const innerPagesZeroed: Damage = {
  name: 'every inner page of the tables in callboard.db is zeroed',
  isHarmless: true,
  apply: (dir) =>
    change(dir, 'callboard.db', (bytes) => {
      for (let at = PAGE_BYTES; at < bytes.length; at += PAGE_BYTES) {
        if (bytes[at] === INNER_PAGE) bytes.fill(0, at, at + PAGE_BYTES);
      }
      return bytes;
    }),
};
