import { expect, test } from 'vitest';
import { isLogInDatabase } from './integrity/check-store-file.ts';
import { scanWal } from './integrity/scan-wal.ts';
import {
  cutPower,
  emptyFiles,
  type PaperFiles,
  recordWrites,
  recover,
  sourceOf,
} from './testing/paper-store.ts';
import { createRandom } from './testing/store-files.ts';

const CHAINS = 1_000;
const CUTS_IN_A_ROW = 4;

/** As the check of a start takes a log. */
function classify({ log, database }: PaperFiles) {
  const scan = scanWal(sourceOf(log));
  if (scan.kind !== 'damaged') return { kind: 'whole', frames: scan.frames };
  const isInDatabase = scan.frame === 0 && isLogInDatabase(sourceOf(log), sourceOf(database));
  return isInDatabase ? { kind: 'whole', frames: 0 } : scan;
}

test('[ST27] no power cut passes for damage, whatever it left of what was not synced', () => {
  const seen = { torn: 0, header: 0 };
  for (let chain = 0; chain < CHAINS; chain += 1) {
    const random = createRandom(chain);
    let files = emptyFiles();
    for (let turn = 0; turn < CUTS_IN_A_ROW; turn += 1) {
      const cut = cutPower(files, recordWrites(files, random, 3 + random(25)), random);
      const { content, frames } = recover(cut.files);
      const where = `chain ${chain}, cut ${turn}`;
      expect(classify(cut.files), where).toEqual({ kind: 'whole', frames });
      const isKept = [cut.promised, cut.next].some((one) => one?.equals(content));
      expect(isKept, `${where}: what was promised is there`).toBe(true);
      const scan = scanWal(sourceOf(cut.files.log));
      seen.torn += scan.kind === 'torn' ? 1 : 0;
      seen.header += scan.kind === 'damaged' ? 1 : 0;
      ({ files } = cut);
    }
  }
  // That there was something to judge.
  expect(seen.torn).toBeGreaterThan(200);
  expect(seen.header).toBeGreaterThan(20);
});
