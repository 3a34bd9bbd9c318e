import { always, becomes, drop, first, gives, never, notAwaited } from '../patch.ts';
import type { Mutant } from './mutant.ts';

/** Guards of the record and of what a crash leaves open. */
export const CRASH_MUTANTS: readonly Mutant[] = [
  {
    name: 'no fsync',
    scenario: 'F03',
    breaks: 'I1',
    inShort: true,
    patches: [gives('commit-is-synced', (all) => `${all} + '; PRAGMA synchronous=OFF'`)],
  },
  {
    name: 'accepted before it is written',
    scenario: 'F01b',
    breaks: 'I1',
    inShort: true,
    patches: [
      notAwaited('accepted-once-written'),
      gives('accepted-as-stored', '{ ok: true, call: created.record }'),
    ],
  },
  {
    name: 'acknowledged before the result is written',
    scenario: 'F01b',
    breaks: 'I2',
    patches: [drop('acknowledged-once-written')],
  },
  {
    name: 'granted before the offer is written',
    scenario: 'F01b',
    breaks: 'I7',
    patches: [gives('grant-after-record', (all) => `(${all}) === 'event' ? 'event' : 'nothing'`)],
  },
  {
    name: 'watchers are shown it before it is written',
    scenario: 'F01b',
    breaks: 'I10',
    patches: [
      first(
        'published-once-written',
        'for (const update of batch.updates) this.#deps.publish(record, update);',
      ),
    ],
  },
  {
    name: 'the idempotency key is not stored',
    scenario: 'F01b',
    breaks: 'I1',
    patches: [never('idempotency-key-stored')],
  },
  {
    name: 'a result is matched by its call id alone',
    scenario: 'I11',
    breaks: 'I11',
    inShort: true,
    patches: [
      first('only-its-client-answers', 'if (provider) return null;'),
      never('no-reply-to-other-clients'),
    ],
  },
  {
    name: 'a final state may change',
    scenario: 'I11',
    breaks: 'I3',
    patches: [gives('final-stays-final', 'granted(state, event)')],
  },
  {
    name: 'open calls are not taken up after a crash',
    scenario: 'F01b',
    breaks: 'I4',
    patches: [gives('open-calls-recovered', '[]')],
  },
  {
    name: 'a start takes what it finds offered for not granted',
    scenario: 'F01b',
    breaks: 'I5',
    patches: [never('offered-counts-as-granted')],
  },
  {
    name: 'runs are not taken up after a crash',
    scenario: 'F01b',
    breaks: 'I8',
    patches: [drop('runs-recovered')],
  },
  {
    name: 'a client comes back without its resume token',
    scenario: 'F14',
    breaks: 'I6',
    patches: [
      gives('resume-token-sent', (all) => `(({ resume_token, ...hello }) => hello)(${all})`),
    ],
  },
  {
    // Each of the two would do alone: what is offered again is refused by the other.
    name: 'a client without its journal is asked again',
    scenario: 'F05c',
    breaks: 'I5',
    patches: [always('lost-journal-proves-nothing'), gives('started-not-offered-again', 'true')],
  },
  {
    name: 'the outbox is not kept',
    scenario: 'F05c',
    breaks: 'I5',
    inShort: true,
    patches: [first('answers-restored', 'if (answer) return;')],
  },
  {
    name: 'the journal is not written before the tool runs',
    scenario: 'F05c',
    breaks: 'I5',
    patches: [drop('start-in-journal-before-tool')],
  },
  {
    name: 'a call that had started is run again',
    scenario: 'F05c',
    breaks: 'I5',
    patches: [never('interrupted-not-run-again')],
  },
  {
    name: 'the journal is not synced',
    scenario: 'F03b',
    breaks: 'I5',
    patches: [drop('journal-synced')],
  },
  {
    name: 'a failed write passes for a good one',
    scenario: 'F01b',
    breaks: 'I1',
    patches: [becomes('failed-write-rejected', 'for (const one of group) one.resolve();')],
  },
  {
    name: 'a server that can write nothing more answers its clients',
    scenario: 'F01b',
    breaks: 'I5',
    patches: [drop('failed-store-closes-lines'), never('failed-store-undoes-nothing')],
  },
  {
    name: 'half a group applied: each of its steps is a transaction',
    scenario: 'F01b',
    breaks: 'I15',
    patches: [becomes('group-in-one-transaction', 'Object.assign(database, { exec: () => {} });')],
  },
  {
    name: 'the log counts as applied before its rows are there',
    scenario: 'F01b',
    breaks: 'I15',
    patches: [
      becomes(
        'applied-with-its-position',
        (all) => `${all} write.position(batch.upTo); database.exec('COMMIT'); ${all}`,
      ),
    ],
  },
  {
    name: 'an open call is not noted when the log is applied',
    scenario: 'F01b',
    breaks: 'I1',
    patches: [drop('open-calls-noted')],
  },
  {
    name: 'lists do not ask for calls that are in the log alone',
    scenario: 'F01b',
    breaks: 'I1',
    patches: [always('unlisted-calls-found')],
  },
  {
    name: 'a row of the log takes the place of another writer’s',
    scenario: 'F01b',
    breaks: 'I15',
    patches: [gives('log-row-inserted', "insert(table, columns).replace('INSERT', 'REPLACE')")],
  },
  {
    name: 'the log does not say the status of a call',
    scenario: 'F01b',
    breaks: 'I4',
    patches: [becomes('each-change-in-the-log', (all) => `if (name !== 'status') ${all}`)],
  },
  {
    name: 'the effects of a refused append happen',
    scenario: 'F01b',
    breaks: 'I7',
    patches: [
      becomes(
        'void-effects-dropped',
        'for (const one of takeVoid(entry)) this.#run(entry, one.effect, one.record);',
      ),
    ],
  },
  {
    name: 'the log is not scanned',
    scenario: 'F08',
    breaks: 'I2',
    inShort: true,
    patches: [always('log-scanned')],
  },
  {
    name: 'the checksums of rows are not verified',
    scenario: 'F08',
    breaks: 'HEALTH',
    patches: [gives('row-checksums-compared', '[]')],
  },
  {
    name: 'the mark of commits is not read',
    scenario: 'F08',
    breaks: 'I2',
    patches: [gives('commit-mark-read', 'undefined')],
  },
  {
    name: 'the data directory is not locked',
    scenario: 'F09',
    breaks: 'HEALTH',
    patches: [drop('data-dir-locked')],
  },
  {
    name: 'time without a server counts in full',
    scenario: 'F18',
    breaks: 'I4',
    patches: [gives('absence-counted-in-part', 'Math.max(0, wallNow - last.wall)')],
  },
  {
    name: 'deadlines are wall times',
    scenario: 'F18',
    breaks: 'I4',
    patches: [drop('steady-clock-not-set')],
  },
];
