import type { Patch } from '../build-variant.ts';
import type { Mutant } from './mutant.ts';

const NO_CANCEL = {
  file: 'lib/client/call-runner.ts',
  find: "if (call?.state === 'running') call.run.abort(new ToolFailure('cancelled', reason));",
  replace: '',
} satisfies Patch;

/** Guards of a page as a client, and of the server against what such a page may do. */
export const PAGE_MUTANTS: readonly Mutant[] = [
  {
    // A client without claims is not told of a cancel either, nor of the time that is left.
    name: 'no claim: a page runs what it is asked at once',
    scenario: 'F13',
    breaks: 'I7',
    patches: [
      {
        file: 'lib/client/call-runner.ts',
        find: 'if (this.#limiter.acquire(name, id, limit)) this.#claim(request);',
        replace:
          'if (this.#limiter.acquire(name, id, limit)) { this.#claim(request); this.#start(request, 60_000); }',
      },
      NO_CANCEL,
    ],
    inShort: true,
  },
  {
    // Each of the two would do alone: what is frozen finds the cancel behind the grant.
    name: 'neither the time between claim and grant nor a cancel counts',
    scenario: 'F13',
    breaks: 'I7',
    patches: [
      {
        file: 'lib/client/call-runner.ts',
        find: 'const remainingMs = remaining_ms - (this.#options.environment.now() - call.claimedAt);',
        replace: 'const remainingMs = remaining_ms;',
      },
      NO_CANCEL,
    ],
  },
  {
    name: 'a start is not written to the journal',
    scenario: 'F05',
    breaks: 'I7',
    patches: [
      {
        file: 'lib/client/running-call.ts',
        find: '    await rememberStart(options, tool);\n',
        replace: '',
      },
    ],
    inShort: true,
  },
  {
    name: 'an answer is sent before it is in the journal',
    scenario: 'F05',
    breaks: 'I2',
    patches: [
      {
        file: 'lib/client/pending-answers.ts',
        find: 'await this.#reportFailure(this.#options.journal.put(entry), id);',
        replace:
          'this.#options.send(entry.answer);\n    await this.#reportFailure(this.#options.journal.put(entry), id);',
      },
    ],
  },
  {
    name: "the journal's epoch is not looked at",
    scenario: 'F05',
    breaks: 'I4',
    patches: [
      {
        file: 'server/calls/instance-changes.ts',
        find: 'const isSameJournal = journalEpoch !== null && call?.provider?.journalEpoch === journalEpoch;',
        replace: 'const isSameJournal = journalEpoch !== null;',
      },
    ],
  },
  {
    name: 'a duplicated tab keeps the instance id',
    scenario: 'F17',
    breaks: 'I6',
    patches: [
      {
        file: 'lib/client/instance-id.ts',
        find: 'if (!locks) return true;',
        replace: 'if (locks) return true;\n    if (!locks) return true;',
      },
    ],
  },
];
