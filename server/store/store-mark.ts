import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { isMissing } from '#lib/util/is-missing';

/**
 * Beside the database, the position in its log that it must have reached at least. It is written
 * after each commit without an fsync, so it survives the process always and a
 * power loss sometimes, and then it may say too little but never too much. With
 * it a log that was cut, a log or a database that was deleted, and an older copy
 * put in the place of the newer one are told from a store that is whole.
 */
export const markFile = (file: string): string => `${file}.mark`;

const DIGITS = 15;
const PATTERN = /^commits (\d{15}) checksum ([0-9a-f]{8})\n$/;

function toText(commits: number): string {
  const count = String(commits).padStart(DIGITS, '0');
  return `commits ${count} checksum ${crc32(count).toString(16).padStart(8, '0')}\n`;
}

/**
 * Undefined when there is none. Zero when it cannot be read as one, as after a
 * power loss in the middle of writing it: then it proves nothing.
 */
export function readMark(file: string): number | undefined {
  let text: string;
  try {
    text = readFileSync(markFile(file), 'latin1');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  const commits = PATTERN.exec(text)?.[1];
  return commits !== undefined && toText(Number(commits)) === text ? Number(commits) : 0;
}

/** Makes it when there is none; that it is there is durable when this returns. */
export function openMark(file: string, commits: number) {
  const name = markFile(file);
  const isNew = readMark(file) === undefined;
  const handle = openSync(name, isNew ? 'w+' : 'r+', 0o600);
  const write = (count: number) => void writeSync(handle, toText(count), 0, 'latin1');
  write(commits);
  fsyncSync(handle);
  if (isNew) syncDirectory(dirname(name));
  return { write, close: () => closeSync(handle) };
}

/** Makes the names in a directory durable. */
export function syncDirectory(dir: string): void {
  if (process.platform === 'win32') return; // It has no such thing, and keeps names durable itself.
  syncFile(dir, 'r');
}

/** Makes what a file holds durable, whoever wrote it. */
export function syncFile(name: string, flags = 'r+'): void {
  const handle = openSync(name, flags);
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** How far its log has come: each commit takes it on, also one that has no event. */
export function positionOf(database: DatabaseSync): number {
  // A store of before has none, and each commit was counted.
  const hasLog = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'log'").get();
  const newest = hasLog ? '(SELECT coalesce(max(seq), 0) FROM log)' : '0';
  const sql = `SELECT max(value, ${newest}) AS position FROM meta WHERE key = 'commits'`;
  return Number(database.prepare(sql).get()?.position ?? 0);
}
