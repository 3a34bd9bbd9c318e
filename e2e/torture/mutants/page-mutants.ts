import { becomes, drop, first, gives } from '../patch.ts';
import type { Mutant } from './mutant.ts';

/** Guards of a page as a client, and of the server against what such a page may do. */
export const PAGE_MUTANTS: readonly Mutant[] = [
  {
    // A client without claims is sent no cancel either, nor the time that is left.
    name: 'no claim: a page runs what it is asked at once',
    scenario: 'F13',
    breaks: 'I7',
    patches: [
      becomes('run-after-grant', (all) => `${all} this.#start(request, 60_000);`),
      drop('cancel-stops-the-run'),
    ],
    inShort: true,
  },
  {
    // Each of the two would do alone: what is frozen finds the cancel behind the grant.
    name: 'neither the time between claim and grant nor a cancel counts',
    scenario: 'F13',
    breaks: 'I7',
    patches: [gives('time-counts-from-claim', 'remaining_ms'), drop('cancel-stops-the-run')],
  },
  {
    name: 'a start is not written to the journal',
    scenario: 'F05',
    breaks: 'I7',
    patches: [drop('start-in-journal-before-tool')],
    inShort: true,
  },
  {
    name: 'an answer is sent before it is in the journal',
    scenario: 'F05',
    breaks: 'I2',
    patches: [first('answer-in-journal-before-sent', 'this.#options.send(entry.answer);')],
  },
  {
    name: "the journal's epoch is not looked at",
    scenario: 'F05',
    breaks: 'I4',
    patches: [gives('journal-epoch-compared', 'journalEpoch !== null')],
  },
  {
    name: 'a duplicated tab keeps the instance id',
    scenario: 'F17',
    breaks: 'I6',
    patches: [first('instance-id-held-once', 'if (locks) return true;')],
  },
];
