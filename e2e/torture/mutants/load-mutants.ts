import { becomes, drop, first, gives, never, notAwaited } from '../patch.ts';
import { type Mutant, mutant, quick } from './mutant.ts';

/** Now and then, by the length of a frame: 400 ms of work. */
const WORK =
  "for (const from = process.cpuUsage(); text.includes('image/png') && text.length % 20 === 0 && process.cpuUsage(from).user < 400_000; );";

/** Guards against load, nonsense and races, beside those of messages. */
export const LOAD_MUTANTS: readonly Mutant[] = [
  mutant('F21', 'I13', 'a watcher that never reads is never cut off', [
    drop('unread-watcher-cut-off'),
  ]),
  mutant('F21', 'I13', 'the log of events has no limit in bytes', [
    drop('event-log-limited-in-bytes'),
  ]),
  mutant('F21', 'I9', 'now and then watchers are not sent an update', [
    becomes('every-watcher-updated', (all) => `if (lastSeq(events) % 97 !== 0) ${all}`),
  ]),
  mutant('F26', 'HEALTH', 'those that were cut off come back at the same moment', [
    gives('reconnects-spread', 'Math.floor(reconnectCap(attempt) + random)'),
  ]),
  mutant('F28', 'HEALTH', 'how deep a text goes is not looked at', [never('depth-limited')]),
  mutant('F28', 'HEALTH', 'messages are not checked against their schema', [
    gives('messages-checked', '{ success: true, data: parsed.value }'),
  ]),
  mutant('F28', 'HEALTH', 'a client may send as much as it likes', [never('client-flood-limited')]),
  mutant('F28', 'HEALTH', 'a watcher may send as much as it likes', [
    never('watcher-flood-limited'),
  ]),
  mutant('F28', 'HEALTH', 'now and then a message keeps the server for 400 ms', [
    first('messages-checked', WORK),
  ]),
  mutant('F27', 'HEALTH', 'a frame may be of any length', [
    first('frame-length-limited', 'options.maxPayload = 0;'),
  ]),
  quick('F31', 'I8', 'a call without an end has no result for the model', [
    becomes(
      'every-call-has-a-result',
      (all) => `if (building.calls.get(part.tool_call_id)?.status === 'SUCCEEDED') ${all}`,
    ),
  ]),
  mutant('F01b', 'HEALTH', 'a stop does not wait for what is being written', [
    notAwaited('store-closed-before-end'),
  ]),
  mutant('F32', 'HEALTH', 'a stop does not answer those who wait', [
    becomes('last-answers-awaited', 'endpoints.server.closeAllConnections();'),
  ]),
  mutant('F01b', 'I7', 'a cancel does not take back a grant that has not left', [
    gives('unsent-grant-taken-back', 'false'),
  ]),
  mutant('I11', 'I3', 'an answer that comes late becomes the result', [
    becomes(
      'late-result-kept-beside',
      (all) => `call = { ...call, status: 'SUCCEEDED', error: null, result: lateResult }; ${all}`,
    ),
  ]),
];
