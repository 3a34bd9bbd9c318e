import { mergeUpdates } from '#lib/call/merge-card';
import type { WatchEvent } from '#lib/protocol/watch-messages';

/**
 * A slow watcher has missed events, which are kept small: updates of one call are merged
 * into one, and of the lists only the newest counts, in place of its changes. Text that a model writes
 * cannot be merged without the message that it belongs to; when it comes, or
 * when more calls than `maxCalls` are waiting, only a fresh snapshot helps.
 */
export function createMissedEvents(maxCalls: number) {
  const calls = new Map<string, Extract<WatchEvent, { type: 'call' }>>();
  const newest = new Map<string, WatchEvent>();
  let needsSnapshot = false;

  function add(event: WatchEvent): void {
    if (needsSnapshot) return;
    switch (event.type) {
      case 'call': {
        const before = calls.get(event.tool_call_id);
        calls.delete(event.tool_call_id);
        calls.set(event.tool_call_id, {
          ...event,
          update: before ? mergeUpdates(before.update, event.update) : event.update,
        });
        break;
      }
      case 'message_delta':
        needsSnapshot = true;
        break;
      default:
        newest.set(placeOf(event), event);
    }
    if (calls.size + newest.size > maxCalls) needsSnapshot = true;
    if (needsSnapshot) {
      calls.clear();
      newest.clear();
    }
  }

  return {
    add,
    /** In order of their numbers, or `snapshot`; and nothing is missed any more. */
    take(): WatchEvent[] | 'snapshot' {
      const events = [...calls.values(), ...newest.values()].sort((a, b) => a.seq - b.seq);
      const answer = needsSnapshot ? 'snapshot' : events;
      calls.clear();
      newest.clear();
      needsSnapshot = false;
      return answer;
    },
  };
}

/** Events of one place stand for the same thing: the newest counts. */
function placeOf(event: Exclude<WatchEvent, { type: 'call' | 'message_delta' }>): string {
  switch (event.type) {
    case 'run':
      return `run ${event.run.run_id}`;
    case 'message':
      return `message ${event.message.message_id}`;
    case 'approval':
      return `approval ${event.tool_call_id}`;
    case 'autonomy':
      return `autonomy ${event.of_run ?? ''}`;
    case 'tools':
    case 'tools_changed':
      return 'tools';
    case 'clients':
    case 'clients_changed':
      return 'clients';
    case 'devices':
      return 'devices';
  }
}
