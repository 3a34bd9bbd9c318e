import type { Mutant } from './mutant.ts';

const INVOKE = 'server/calls/invoke.ts';
const CLIENT_CALLS = 'server/calls/client-calls.ts';
const MACHINE = 'lib/call/call-machine.ts';
const CHECK = 'server/store/integrity/check-store-file.ts';
const PENDING_ANSWERS = 'lib/client/pending-answers.ts';

/** Guards of the record and of what a crash leaves open. */
export const CRASH_MUTANTS: readonly Mutant[] = [
  {
    name: 'no fsync',
    scenario: 'F03',
    breaks: 'I1',
    inShort: true,
    patches: [
      {
        file: 'server/store/open-database.ts',
        find: 'PRAGMA synchronous=FULL',
        replace: 'PRAGMA synchronous=OFF',
      },
    ],
  },
  {
    name: 'accepted before it is written',
    scenario: 'F01b',
    breaks: 'I1',
    inShort: true,
    patches: [
      { file: INVOKE, find: 'await Promise.all([applied', replace: 'void Promise.all([applied' },
      {
        file: INVOKE,
        find: '(await repository.get(call.id)) ?? applied.record',
        replace: 'applied.record',
      },
    ],
  },
  {
    name: 'acknowledged before the result is written',
    scenario: 'F01b',
    breaks: 'I2',
    patches: [
      {
        file: CLIENT_CALLS,
        find: "await applied.written;\n    if (answer.ok === 'unusable')",
        replace: "if (answer.ok === 'unusable')",
      },
    ],
  },
  {
    name: 'granted before the offer is written',
    scenario: 'F01b',
    breaks: 'I7',
    patches: [
      {
        file: 'lib/call/effects.ts',
        find: "isPolling(provider) ? 'event' : 'offer';",
        replace: "isPolling(provider) ? 'event' : 'nothing';",
      },
    ],
  },
  {
    name: 'watchers are told before it is written',
    scenario: 'F01b',
    breaks: 'I10',
    patches: [
      {
        file: 'server/calls/engine.ts',
        find: 'entry.writes += 1;',
        replace:
          'entry.writes += 1; for (const update of batch.updates) this.#publish(record, update);',
      },
    ],
  },
  {
    name: 'the idempotency key is not stored',
    scenario: 'F01b',
    breaks: 'I1',
    patches: [
      {
        file: INVOKE,
        find: 'const more = entry ? [',
        replace: 'const more = entry && false ? [',
      },
    ],
  },
  {
    name: 'a result is matched by its call id alone',
    scenario: 'I11',
    breaks: 'I11',
    inShort: true,
    patches: [
      {
        file: MACHINE,
        find: "if (!provider || provider.clientId !== from.clientId) return 'not_your_call';",
        replace: 'if (provider) return null;',
      },
      {
        file: CLIENT_CALLS,
        find: 'if (call.provider?.clientId !== from.clientId) {',
        replace: 'if (!call.provider) {',
      },
    ],
  },
  {
    name: 'a final state may change',
    scenario: 'I11',
    breaks: 'I3',
    patches: [
      {
        file: MACHINE,
        find: "if (isFinalStatus(state.status)) return refuse('already_final'); // CS1",
        replace: '',
      },
    ],
  },
  {
    name: 'open calls are not taken up after a crash',
    scenario: 'F01b',
    breaks: 'I4',
    patches: [
      {
        file: 'server/calls/recover.ts',
        find: 'const open = (await store.openCalls()).map(withBoundedCard);',
        replace: 'const open: CallRecord[] = [];',
      },
    ],
  },
  {
    name: 'a start takes what it finds offered for not granted',
    scenario: 'F01b',
    breaks: 'I5',
    patches: [
      {
        file: 'lib/call/decide.ts',
        find: 'isPossiblyGranted(stored) ? asGranted(moved) : moved',
        replace: 'moved',
      },
    ],
  },
  {
    name: 'runs are not taken up after a crash',
    scenario: 'F01b',
    breaks: 'I8',
    patches: [{ file: 'server/main.ts', find: 'await runs.recover();', replace: '' }],
  },
  {
    name: 'a client comes back without its resume token',
    scenario: 'F14',
    breaks: 'I6',
    patches: [
      {
        file: 'lib/client/create-hello.ts',
        find: '...(token === undefined ? {} : { resume_token: token }),',
        replace: '',
      },
    ],
  },
  {
    name: 'a client without its journal is asked again',
    scenario: 'F05c',
    breaks: 'I5',
    patches: [
      {
        file: 'lib/call/resume-matrix.ts',
        find: "return rerunnable ? 'offer' : 'outcome_unknown';",
        replace: "return 'offer';",
      },
      {
        // Each of the two would do alone: what is offered again is refused here.
        file: 'lib/call/call-machine.ts',
        find: 'return !hasStarted || (state.rerunnable && rerunnable);',
        replace: 'return hasStarted !== undefined;',
      },
    ],
  },
  {
    name: 'the outbox is not kept',
    scenario: 'F05c',
    breaks: 'I5',
    inShort: true,
    patches: [
      {
        file: PENDING_ANSWERS,
        find: 'if (answer) this.#answers.set(',
        replace: 'if (answer) void (',
      },
    ],
  },
  {
    name: 'the journal is not written before the tool runs',
    scenario: 'F05c',
    breaks: 'I5',
    patches: [
      {
        file: 'lib/client/running-call.ts',
        find: 'await rememberStart(options, tool);',
        replace: '',
      },
    ],
  },
  {
    name: 'a call that had started is run again',
    scenario: 'F05c',
    breaks: 'I5',
    patches: [
      {
        file: PENDING_ANSWERS,
        find: 'else if (!entry.repeatable) this.#answers.set(',
        replace: 'else if (!entry.repeatable) void (',
      },
    ],
  },
  {
    name: 'the journal is not synced',
    scenario: 'F03b',
    breaks: 'I5',
    patches: [
      {
        file: 'lib/client/node/journal-file.ts',
        find: 'try {\n      await handle.datasync();',
        replace: 'try {',
      },
    ],
  },
  {
    name: 'a failed write passes for a good one',
    scenario: 'F01b',
    breaks: 'I1',
    patches: [
      {
        file: 'server/store/write-queue.ts',
        find: 'for (const one of group) one.reject(failure);',
        replace: 'for (const one of group) one.resolve();',
      },
    ],
  },
  {
    name: 'the log is not scanned',
    scenario: 'F08',
    breaks: 'I2',
    inShort: true,
    patches: [{ file: CHECK, find: 'withFile(walFile(file), scanWal)', replace: 'undefined' }],
  },
  {
    name: 'the checksums of rows are not verified',
    scenario: 'F08',
    breaks: 'HEALTH',
    patches: [{ file: CHECK, find: 'findDamagedRows(database);', replace: '[] as string[];' }],
  },
  {
    name: 'the mark of commits is not read',
    scenario: 'F08',
    breaks: 'I2',
    patches: [
      {
        file: CHECK,
        find: 'const acknowledged = readMark(file);',
        replace: 'const acknowledged = undefined;',
      },
    ],
  },
  {
    name: 'the data directory is not locked',
    scenario: 'F09',
    breaks: 'HEALTH',
    patches: [
      {
        file: 'server/store/data-dir-lock.ts',
        find: "database.exec('BEGIN EXCLUSIVE');",
        replace: '',
      },
    ],
  },
  {
    name: 'time without a server counts in full',
    scenario: 'F18',
    breaks: 'I4',
    patches: [
      {
        file: 'server/calls/recover.ts',
        find: 'return absence < 0 ? absence : Math.max(0, absence - COUNTED_ABSENCE_MS);',
        replace: 'return 0;',
      },
    ],
  },
  {
    name: 'a server whose clock was set is not marked as alive at the new time',
    scenario: 'F18',
    breaks: 'I4',
    patches: [{ file: 'server/main.ts', find: 'void alive.markNow();', replace: '' }],
  },
];
