import type { WatchEvent } from '../protocol/watch-messages.ts';
import { type CallsState, isLeftOut } from './calls-store.ts';
import { lacksMessages, type RunsState } from './runs-store.ts';

/**
 * Tells whether the events speak of something that was never introduced (SF12).
 *
 * Numbers alone do not show a gap: they rise, but a slow watcher is sent merged
 * updates, and a start of the server leaves numbers out. What does show one is
 * an update of a call, or text of a message, that nobody told us of.
 */
export function findGap(
  calls: CallsState,
  runs: RunsState,
  events: readonly WatchEvent[],
): boolean {
  const introduced = new Set<string>();
  return events.some((event) => {
    if (event.type === 'message') introduced.add(event.message.message_id);
    if (event.type === 'message_delta') {
      return lacksMessage(runs, event) && !introduced.has(event.message_id);
    }
    if (event.type !== 'call') return false;
    if (event.update.tool_name !== undefined) introduced.add(event.tool_call_id);
    // A late result may concern a call that is no longer among the live ones.
    if (event.update.late_result || isLeftOut(calls, event.update)) return false;
    return !Object.hasOwn(calls.byId, event.tool_call_id) && !introduced.has(event.tool_call_id);
  });
}

function lacksMessage(
  runs: RunsState,
  { run_id: runId, message_id: id }: Extract<WatchEvent, { type: 'message_delta' }>,
): boolean {
  if (lacksMessages(runs, runId)) return false;
  return !(runs.messages[runId] ?? []).some((message) => message.message_id === id);
}
