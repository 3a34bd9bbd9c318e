import { always, becomes, drop, first, gives, never, notAwaited } from '../patch.ts';
import { type Mutant, mutant, quick } from './mutant.ts';

/** Guards of the record and of what a crash leaves open. */
export const CRASH_MUTANTS: readonly Mutant[] = [
  quick('F03', 'I1', 'no fsync', [
    gives('commit-is-synced', (all) => `${all} + '; PRAGMA synchronous=OFF'`),
  ]),
  quick('F01b', 'I1', 'accepted before it is written', [
    notAwaited('accepted-once-written'),
    gives('accepted-as-stored', '{ ok: true, call: created.record }'),
  ]),
  mutant('F01b', 'I2', 'acknowledged before the result is written', [
    drop('acknowledged-once-written'),
  ]),
  mutant('F01b', 'I7', 'granted before the offer is written', [
    gives('grant-after-record', (all) => `(${all}) === 'event' ? 'event' : 'nothing'`),
  ]),
  mutant('F01b', 'I10', 'watchers are shown it before it is written', [
    first(
      'published-once-written',
      'for (const update of batch.updates) this.#deps.publish(record, update);',
    ),
  ]),
  mutant('F01b', 'I1', 'the idempotency key is not stored', [never('idempotency-key-stored')]),
  quick('I11', 'I11', 'a result is matched by its call id alone', [
    first('only-its-client-answers', 'if (provider) return null;'),
    never('no-reply-to-other-clients'),
  ]),
  mutant('I11', 'I3', 'a final state may change', [
    gives('final-stays-final', 'granted(state, event)'),
  ]),
  mutant('F01b', 'I4', 'open calls are not taken up after a crash', [
    gives('open-calls-recovered', '[]'),
  ]),
  mutant('F01b', 'I5', 'a start takes what it finds offered for not granted', [
    never('offered-counts-as-granted'),
  ]),
  mutant('F01b', 'I8', 'runs are not taken up after a crash', [drop('runs-recovered')]),
  mutant('F14', 'I6', 'a client comes back without its resume token', [
    gives('resume-token-sent', (all) => `(({ resume_token, ...hello }) => hello)(${all})`),
  ]),
  // Each of the two would do alone: what is offered again is refused by the other.
  mutant('F05c', 'I5', 'a client without its journal is asked again', [
    always('lost-journal-proves-nothing'),
    gives('started-not-offered-again', 'true'),
  ]),
  quick('F05c', 'I5', 'the outbox is not kept', [first('answers-restored', 'if (answer) return;')]),
  mutant('F05c', 'I5', 'the journal is not written before the tool runs', [
    drop('start-in-journal-before-tool'),
  ]),
  mutant('F05c', 'I5', 'a call that had started is run again', [
    never('interrupted-not-run-again'),
  ]),
  mutant('F03b', 'I5', 'the journal is not synced', [
    becomes('journal-synced', "database.exec('PRAGMA synchronous = OFF');"),
  ]),
  mutant('F01b', 'I1', 'a failed write passes for a good one', [
    becomes('failed-write-rejected', 'for (const one of group) one.resolve();'),
  ]),
  mutant('F01b', 'I5', 'a server that can write nothing more answers its clients', [
    drop('failed-store-closes-lines'),
    never('failed-store-undoes-nothing'),
  ]),
  mutant('F01b', 'I15', 'half a group applied: each of its steps is a transaction', [
    becomes('group-in-one-transaction', 'Object.assign(database, { exec: () => {} });'),
  ]),
  mutant('F01b', 'I15', 'the log counts as applied before its rows are there', [
    becomes(
      'applied-with-its-position',
      (all) => `${all} write.position(batch.upTo); database.exec('COMMIT'); ${all}`,
    ),
  ]),
  mutant('F01b', 'I1', 'an open call is not noted when the log is applied', [
    drop('open-calls-noted'),
  ]),
  mutant('F01b', 'I1', 'lists do not ask for calls that are in the log alone', [
    always('unlisted-calls-found'),
  ]),
  mutant('F01b', 'I15', 'a row of the log takes the place of another writer’s', [
    gives('log-row-inserted', "insert(table, columns).replace('INSERT', 'REPLACE')"),
  ]),
  mutant('F01b', 'I4', 'the log does not say the status of a call', [
    becomes('each-change-in-the-log', (all) => `if (name !== 'status') ${all}`),
  ]),
  mutant('F01b', 'I7', 'the effects of a refused append happen', [
    becomes(
      'void-effects-dropped',
      'for (const one of takeVoid(entry)) this.#run(entry, one.effect, one.record);',
    ),
  ]),
  quick('F08', 'I2', 'the log is not scanned', [always('log-scanned')]),
  mutant('F08', 'HEALTH', 'the checksums of rows are not verified', [
    gives('row-checksums-compared', '[]'),
  ]),
  mutant('F08', 'I2', 'the mark of commits is not read', [gives('commit-mark-read', 'undefined')]),
  mutant('F09', 'HEALTH', 'the data directory is not locked', [drop('data-dir-locked')]),
  mutant('F18', 'I4', 'time without a server counts in full', [
    gives('absence-counted-in-part', 'Math.max(0, wallNow - last.wall)'),
  ]),
  mutant('F18', 'I4', 'deadlines are wall times', [drop('steady-clock-not-set')]),
];
