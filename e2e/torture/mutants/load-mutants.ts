import { becomes, drop, first, gives, never, notAwaited } from '../patch.ts';
import type { Mutant } from './mutant.ts';

/** Now and then, by the length of a frame: 400 ms of work. */
const WORK =
  "for (const from = process.cpuUsage(); text.includes('image/png') && text.length % 20 === 0 && process.cpuUsage(from).user < 400_000; );";

/** Guards against load, nonsense and races, beside those of messages. */
export const LOAD_MUTANTS: readonly Mutant[] = [
  {
    name: 'a watcher that never reads is never cut off',
    scenario: 'F21',
    breaks: 'I13',
    patches: [drop('unread-watcher-cut-off')],
  },
  {
    name: 'the log of events has no limit in bytes',
    scenario: 'F21',
    breaks: 'I13',
    patches: [drop('event-log-limited-in-bytes')],
  },
  {
    name: 'now and then watchers are not sent an update',
    scenario: 'F21',
    breaks: 'I9',
    patches: [becomes('every-watcher-updated', (all) => `if (lastSeq(events) % 97 !== 0) ${all}`)],
  },
  {
    name: 'those that were cut off come back at the same moment',
    scenario: 'F26',
    breaks: 'HEALTH',
    patches: [gives('reconnects-spread', 'Math.floor(reconnectCap(attempt) + random)')],
  },
  {
    name: 'how deep a text goes is not looked at',
    scenario: 'F28',
    breaks: 'HEALTH',
    patches: [never('depth-limited')],
  },
  {
    name: 'messages are not checked against their schema',
    scenario: 'F28',
    breaks: 'HEALTH',
    patches: [gives('messages-checked', '{ success: true, data: parsed.value }')],
  },
  {
    name: 'a client may send as much as it likes',
    scenario: 'F28',
    breaks: 'HEALTH',
    patches: [never('client-flood-limited')],
  },
  {
    name: 'a watcher may send as much as it likes',
    scenario: 'F28',
    breaks: 'HEALTH',
    patches: [never('watcher-flood-limited')],
  },
  {
    name: 'now and then a message keeps the server for 400 ms',
    scenario: 'F28',
    breaks: 'HEALTH',
    patches: [first('messages-checked', WORK)],
  },
  {
    name: 'a frame may be of any length',
    scenario: 'F27',
    breaks: 'HEALTH',
    patches: [first('frame-length-limited', 'options.maxPayload = 0;')],
  },
  {
    name: 'a call without an end has no result for the model',
    scenario: 'F31',
    breaks: 'I8',
    inShort: true,
    patches: [
      becomes(
        'every-call-has-a-result',
        (all) => `if (building.calls.get(part.tool_call_id)?.status === 'SUCCEEDED') ${all}`,
      ),
    ],
  },
  {
    name: 'a stop does not wait for what is being written',
    scenario: 'F01b',
    breaks: 'HEALTH',
    patches: [notAwaited('store-closed-before-end')],
  },
  {
    name: 'a stop does not answer those who wait',
    scenario: 'F32',
    breaks: 'HEALTH',
    patches: [becomes('last-answers-awaited', 'endpoints.server.closeAllConnections();')],
  },
  {
    name: 'a cancel does not take back a grant that has not left',
    scenario: 'F01b',
    breaks: 'I7',
    patches: [gives('unsent-grant-taken-back', 'false')],
  },
  {
    name: 'an answer that comes late becomes the result',
    scenario: 'I11',
    breaks: 'I3',
    patches: [
      becomes(
        'late-result-kept-beside',
        (all) => `call = { ...call, status: 'SUCCEEDED', error: null, result: lateResult }; ${all}`,
      ),
    ],
  },
];
