import { always, becomes, drop, gives, never } from '../patch.ts';
import type { Mutant } from './mutant.ts';

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
  {
    name: 'answers matched by the id alone',
    scenario: 'I11',
    breaks: 'I11',
    inShort: true,
    patches: [...clientNotAsked, attempt, notGranted],
  },
  { name: 'any client may answer', scenario: 'I11', breaks: 'I11', patches: clientNotAsked },
  { name: 'the attempt is not checked', scenario: 'I11', breaks: 'I11', patches: [attempt] },
  { name: 'answers before the grant count', scenario: 'I11', breaks: 'I11', patches: [notGranted] },
  {
    name: 'an older connection of a client is not superseded',
    scenario: 'I11',
    breaks: 'I11',
    patches: [drop('older-connection-superseded')],
  },
  {
    name: 'a different second answer passes for a duplicate',
    scenario: 'I11',
    breaks: 'I2',
    inShort: true,
    patches: [always('second-answer-compared')],
  },
  {
    name: 'a granted call with effects is offered again',
    scenario: 'I11',
    breaks: 'I5',
    inShort: true,
    patches: [gives('started-not-offered-again', 'true')],
  },
  {
    name: 'an attempt that was given up is granted',
    scenario: 'I11',
    breaks: 'I5',
    patches: [drop('given-up-attempt-refused')],
  },
  {
    name: 'what is over can end once more',
    scenario: 'I11',
    breaks: 'I2',
    inShort: true,
    patches: [ended],
  },
  {
    name: 'of a result, a cancel and a timeout each may be the end',
    scenario: 'F36',
    breaks: 'I2',
    patches: [ended],
  },
  {
    name: 'the list keeps the tools of closed sockets',
    scenario: 'F25',
    breaks: 'I14',
    patches: [drop('closed-socket-offers-nothing')],
  },
  {
    name: 'coming back without sending again what was not acknowledged',
    scenario: 'F14',
    breaks: 'I6',
    inShort: true,
    patches: [drop('unacknowledged-sent-again')],
  },
  {
    name: 'a refused answer stays in the outbox',
    scenario: 'F15',
    breaks: 'I2',
    patches: [drop('rejected-answer-forgotten')],
  },
  {
    // Each of the two keeps it: at the hello, and once the client has spoken.
    name: 'who a client is, is not kept over a restart',
    scenario: 'F26',
    breaks: 'I14',
    patches: [drop('client-stored-at-hello'), never('client-stored-once-confirmed')],
  },
  {
    name: 'no limit on what waits for a watcher',
    scenario: 'F21',
    breaks: 'I13',
    patches: [never('watcher-backlog-limited')],
  },
  {
    name: 'what a slow watcher missed is forgotten',
    scenario: 'F21',
    breaks: 'I9',
    patches: [drop('missed-updates-kept')],
  },
  {
    name: 'the errors of a socket have no listener',
    scenario: 'F27',
    breaks: 'HEALTH',
    inShort: true,
    patches: [drop('socket-errors-handled')],
  },
];
