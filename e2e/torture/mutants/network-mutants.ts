import { always, becomes, drop, gives, never } from '../patch.ts';
import { type Mutant, mutant, quick } from './mutant.ts';

/** Guards of delivery over lines that break, stall and mix things up. */
export const NETWORK_MUTANTS: readonly Mutant[] = [
  mutant('F10', 'I5', 'an answer is forgotten once it is sent', [
    becomes(
      'answer-kept-until-acknowledged',
      'if (this.#options.send(entry.answer)) this.forget(id);',
    ),
  ]),
  mutant('F11', 'I6', 'a client does not ask whether its silent line lives', [
    drop('silent-line-checked'),
  ]),
  mutant('F11b', 'I6', 'an answer that went by a request is forgotten once it is sent', [
    becomes(
      'answer-kept-until-acknowledged',
      'if (this.#options.send(entry.answer)) this.forget(id);',
    ),
  ]),
  quick('F12', 'I14', 'liveness by ping instead of by probe', [
    always('pong-proves-no-program'),
    never('program-probed'),
  ]),
  mutant('F12', 'I14', 'a dead socket is not ended', [drop('dead-socket-ended')]),
  quick('F13b', 'I7', 'no claim: a program runs what it is asked at once', [
    becomes('run-after-grant', (all) => `${all} this.#start(request, request.timeout_ms);`),
  ]),
  quick('F16b', 'I5', 'what runs or ran already is claimed and run again', [
    drop('never-run-twice'),
  ]),
  mutant('F16b', 'I6', 'a claim that comes twice is refused', [
    gives('repeated-claim-granted-again', 'false'),
  ]),
  quick('F19b', 'I6', 'a late timer does not look at what has arrived', [
    never('late-timer-reads-first'),
  ]),
  mutant('F19b', 'I14', "a client's silence counts while the server stood still", [
    drop('own-stall-not-counted'),
  ]),
  mutant('F14', 'I6', 'a client whose welcome was lost is a stranger', [
    gives(
      'lost-welcome-resumed',
      "(await find(confirmedHash(resume_token))) ?? (await find(hash('sha256', resume_token)))",
    ),
  ]),
];
