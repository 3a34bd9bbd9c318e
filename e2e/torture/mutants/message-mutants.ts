import { always, becomes, drop, gives, never } from '../patch.ts';
import { type Mutant, mutant, quick } from './mutant.ts';

const clientNotAsked = [
  never('no-reply-to-other-clients'),
  becomes('only-its-client-answers', "if (!provider) return 'not_your_call';"),
  drop('only-its-instance-answers'),
];
const attempt = drop('only-its-attempt-answers');
const notGranted = always('only-after-its-grant');
const ended = gives('final-stays-final', 'granted(state, event)');

/** Guards of what is said: who may answer, which attempt, how often, and what is too much. */
export const MESSAGE_MUTANTS: readonly Mutant[] = [
  quick('I11', 'I11', 'answers matched by the id alone', [...clientNotAsked, attempt, notGranted]),
  mutant('I11', 'I11', 'any client may answer', clientNotAsked),
  mutant('I11', 'I11', 'the attempt is not checked', [attempt]),
  mutant('I11', 'I11', 'answers before the grant count', [notGranted]),
  mutant('I11', 'I11', 'an older connection of a client is not superseded', [
    drop('older-connection-superseded'),
  ]),
  quick('I11', 'I2', 'a different second answer passes for a duplicate', [
    always('second-answer-compared'),
  ]),
  quick('I11', 'I5', 'a granted call with effects is offered again', [
    gives('started-not-offered-again', 'true'),
  ]),
  mutant('I11', 'I5', 'an attempt that was given up is granted', [
    drop('given-up-attempt-refused'),
  ]),
  quick('I11', 'I2', 'what is over can end once more', [ended]),
  mutant('F36', 'I2', 'of a result, a cancel and a timeout each may be the end', [ended]),
  mutant('F25', 'I14', 'the list keeps the tools of closed sockets', [
    drop('closed-socket-offers-nothing'),
  ]),
  quick('F14', 'I6', 'coming back without sending again what was not acknowledged', [
    drop('unacknowledged-sent-again'),
  ]),
  mutant('F15', 'I2', 'a refused answer stays in the outbox', [drop('rejected-answer-forgotten')]),
  // Each of the two keeps it: at the hello, and once the client has spoken.
  mutant('F26', 'I14', 'who a client is, is not kept over a restart', [
    drop('client-stored-at-hello'),
    never('client-stored-once-confirmed'),
  ]),
  mutant('F21', 'I13', 'no limit on what waits for a watcher', [never('watcher-backlog-limited')]),
  mutant('F21', 'I9', 'what a slow watcher missed is forgotten', [drop('missed-updates-kept')]),
  quick('F27', 'HEALTH', 'the errors of a socket have no listener', [
    drop('socket-errors-handled'),
  ]),
];
