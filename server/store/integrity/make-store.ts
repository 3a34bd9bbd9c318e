import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { createLogApplier } from '../apply-log.ts';
import { NOTE_BLOBS_OF_MESSAGES } from '../blob-ids.ts';
import { defineRowChecksum } from '../row-checksum.ts';
import { syncFile } from '../store-mark.ts';

/**
 * Makes a store in a file of its own: `bringTruth` brings schema, log and documents, and all else is
 * made from these. It is on the disk when this returns; before, it is worth nothing.
 */
export function makeStore(
  file: string,
  { bringTruth, report }: { bringTruth(store: DatabaseSync): void; report(line: string): void },
): void {
  closeSync(openSync(file, 'w', 0o600));
  const store = new DatabaseSync(file);
  try {
    store.exec('PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF');
    defineRowChecksum(store);
    bringTruth(store);
    makeDerived(store, report);
  } finally {
    store.close();
  }
  syncFile(file);
}

/** Rows of the log between two lines about how far it is. */
const REPORT_EVERY = 100_000;

/** Calls, words, open calls and the notes of blobs. */
function makeDerived(store: DatabaseSync, report: (line: string) => void): void {
  // Rows that a migration has made of the log are made anew with the rest.
  store.exec(`DELETE FROM calls; DELETE FROM open_calls; UPDATE meta SET value = 0 WHERE key = 'applied';
    ${NOTE_BLOBS_OF_MESSAGES}`);
  const last = Number(store.prepare('SELECT max(seq) AS seq FROM log').get()?.seq ?? 0);
  const applySome = createLogApplier(store);
  for (let reported = 0; ; ) {
    const { upTo, more } = applySome();
    if (!more) return;
    if (upTo - reported < REPORT_EVERY) continue;
    reported = upTo;
    report(`lists and words are made from the log: ${Math.floor((upTo / last) * 100)} %`);
  }
}
