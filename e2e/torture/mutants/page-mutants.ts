import { becomes, drop, first, gives } from '../patch.ts';
import { type Mutant, mutant, quick } from './mutant.ts';

/** Guards of a page as a client, and of the server against what such a page may do. */
export const PAGE_MUTANTS: readonly Mutant[] = [
  // A client without claims is sent no cancel either, nor the time that is left.
  quick('F13', 'I7', 'no claim: a page runs what it is asked at once', [
    becomes('run-after-grant', (all) => `${all} this.#start(request, 60_000);`),
    drop('cancel-stops-the-run'),
  ]),
  // Each of the two would do alone: what is frozen finds the cancel behind the grant.
  mutant('F13', 'I7', 'neither the time between claim and grant nor a cancel counts', [
    gives('time-counts-from-claim', 'remaining_ms'),
    drop('cancel-stops-the-run'),
  ]),
  quick('F05', 'I7', 'a start is not written to the journal', [
    drop('start-in-journal-before-tool'),
  ]),
  mutant('F05', 'I2', 'an answer is sent before it is in the journal', [
    first('answer-in-journal-before-sent', 'this.#options.send(entry.answer);'),
  ]),
  mutant('F05', 'I4', "the journal's epoch is not looked at", [
    gives('journal-epoch-compared', 'journalEpoch !== null'),
  ]),
  mutant('F17', 'I6', 'a duplicated tab keeps the instance id', [
    first('instance-id-held-once', 'if (locks) return true;'),
  ]),
];
