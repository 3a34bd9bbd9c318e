import { always, becomes, drop, gives, never } from '../patch.ts';
import type { Mutant } from './mutant.ts';

/** Guards of delivery over lines that break, stall and mix things up. */
export const NETWORK_MUTANTS: readonly Mutant[] = [
  {
    name: 'an answer is forgotten once it is sent',
    scenario: 'F10',
    breaks: 'I5',
    patches: [
      becomes(
        'answer-kept-until-acknowledged',
        'if (this.#options.send(entry.answer)) this.forget(id);',
      ),
    ],
  },
  {
    name: 'a client does not ask whether its silent line lives',
    scenario: 'F11',
    breaks: 'I6',
    patches: [drop('silent-line-checked')],
  },
  {
    name: 'an answer that went by a request is forgotten once it is sent',
    scenario: 'F11b',
    breaks: 'I6',
    patches: [
      becomes(
        'answer-kept-until-acknowledged',
        'if (this.#options.send(entry.answer)) this.forget(id);',
      ),
    ],
  },
  {
    name: 'liveness by ping instead of by probe',
    scenario: 'F12',
    breaks: 'I14',
    inShort: true,
    patches: [always('pong-proves-no-program'), never('program-probed')],
  },
  {
    name: 'a dead socket is not ended',
    scenario: 'F12',
    breaks: 'I14',
    patches: [drop('dead-socket-ended')],
  },
  {
    name: 'no claim: a program runs what it is asked at once',
    scenario: 'F13b',
    breaks: 'I7',
    inShort: true,
    patches: [
      becomes('run-after-grant', (all) => `${all} this.#start(request, request.timeout_ms);`),
    ],
  },
  {
    name: 'what runs or ran already is claimed and run again',
    scenario: 'F16b',
    breaks: 'I5',
    inShort: true,
    patches: [drop('never-run-twice')],
  },
  {
    name: 'a claim that comes twice is refused',
    scenario: 'F16b',
    breaks: 'I6',
    patches: [gives('repeated-claim-granted-again', 'false')],
  },
  {
    name: 'a late timer does not look at what has arrived',
    scenario: 'F19b',
    breaks: 'I6',
    inShort: true,
    patches: [never('late-timer-reads-first')],
  },
  {
    name: "a client's silence counts while the server stood still",
    scenario: 'F19b',
    breaks: 'I14',
    patches: [drop('own-stall-not-counted')],
  },
  {
    name: 'a client whose welcome was lost is a stranger',
    scenario: 'F14',
    breaks: 'I6',
    patches: [
      gives(
        'lost-welcome-resumed',
        "(await find(confirmedHash(resume_token))) ?? (await find(hash('sha256', resume_token)))",
      ),
    ],
  },
];
