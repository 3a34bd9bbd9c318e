import type { Mutant } from './mutant.ts';

const RUNNER = 'lib/client/call-runner.ts';
const LIVENESS = 'server/sockets/liveness.ts';

/** Guards of delivery over lines that break, stall and mix things up. */
export const NETWORK_MUTANTS: readonly Mutant[] = [
  {
    name: 'an answer is forgotten once it is sent',
    scenario: 'F10',
    breaks: 'I5',
    patches: [
      {
        file: 'lib/client/pending-answers.ts',
        find: 'if (!this.#isDiscarding) this.#outbox.send(id);',
        replace: 'if (this.#options.send(entry.answer)) this.forget(id);',
      },
    ],
  },
  {
    name: 'a client does not ask whether its silent line lives',
    scenario: 'F11',
    breaks: 'I6',
    patches: [
      {
        file: 'lib/net/liveness.ts',
        find: 'if (quiet >= quietMs) check();',
        replace: '',
      },
    ],
  },
  {
    name: 'liveness by ping instead of by probe',
    scenario: 'F12',
    breaks: 'I14',
    inShort: true,
    patches: [
      {
        file: LIVENESS,
        find: "if (!deps.caps().includes('probe')) received();",
        replace: 'received();',
      },
      {
        file: LIVENESS,
        find: "if (deps.caps().includes('probe')) deps.probe();\n    else socket.ping();",
        replace: 'socket.ping();',
      },
    ],
  },
  {
    name: 'a dead socket is not ended',
    scenario: 'F12',
    breaks: 'I14',
    patches: [{ file: LIVENESS, find: 'socket.terminate();', replace: '' }],
  },
  {
    name: 'no claim: a program runs what it is asked at once',
    scenario: 'F13b',
    breaks: 'I7',
    inShort: true,
    patches: [
      {
        file: RUNNER,
        find: 'if (this.#limiter.acquire(name, id, limit)) this.#claim(request);',
        replace:
          'if (this.#limiter.acquire(name, id, limit)) { this.#claim(request); this.#start(request, request.timeout_ms); }',
      },
    ],
  },
  {
    name: 'what runs or ran already is claimed and run again',
    scenario: 'F16b',
    breaks: 'I5',
    inShort: true,
    patches: [
      {
        file: RUNNER,
        find: 'if (ranAs !== undefined) return this.#offerAgain(request, ranAs);',
        replace: '',
      },
    ],
  },
  {
    name: 'a claim that comes twice is refused',
    scenario: 'F16b',
    breaks: 'I6',
    patches: [
      {
        file: 'server/calls/client-calls.ts',
        find: "!applied.ok && applied.refusal === 'already_granted' && call.provider?.claims;",
        replace: 'false;',
      },
    ],
  },
  {
    name: 'a late timer does not look at what has arrived',
    scenario: 'F19b',
    breaks: 'I6',
    inShort: true,
    patches: [
      {
        file: 'server/calls/call-clocks.ts',
        find: 'if (deps.clock.now() > next.at) afterTurns(TURNS_TO_READ, ranOut);\n      else ranOut();',
        replace: 'ranOut();',
      },
    ],
  },
  {
    name: "a client's silence counts while the server stood still",
    scenario: 'F19b',
    breaks: 'I14',
    patches: [
      {
        file: LIVENESS,
        find: 'if (hasStalled) missed = Math.max(0, missed - 1);',
        replace: 'void hasStalled;',
      },
    ],
  },
  {
    name: 'a client whose welcome was lost is a stranger',
    scenario: 'F14',
    breaks: 'I6',
    patches: [
      {
        file: 'server/connections/resume-session.ts',
        find: "(await find(hash('sha256', nextToken)))",
        replace: 'undefined',
      },
    ],
  },
];
