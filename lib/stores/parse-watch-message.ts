import { isRecord } from '../json/is-record.ts';
import { readJson } from '../json/parse-json.ts';
import type {
  Snapshot,
  WatchEvent,
  WatchProbeAck,
  WatchServerMessage,
} from '../protocol/watch-messages.ts';

/**
 * Reads a frame of the watch socket. At thousands of updates a second checking
 * each against its zod schema would cost more than drawing it, so this looks at
 * what the fold relies on: the kind, the number, the ids. The rest is our own
 * server's word, which its tests hold to the schemas. Undefined: not such a frame.
 */
export function parseWatchMessage(frame: unknown): WatchServerMessage | WatchProbeAck | undefined {
  const value = typeof frame === 'string' ? readJson(frame) : undefined;
  if (!isRecord(value)) return undefined;
  const { type, events, calls, next } = value;
  switch (type) {
    case 'snapshot':
      return isSnapshot(value) ? value : undefined;
    case 'batch':
      return isEvents(events) ? { type, events } : undefined;
    case 'ended':
      return Array.isArray(calls) && isPlace(next) ? { type, calls, next } : undefined;
    default:
      return isEvent(value) ? value : readReply(value);
  }
}

function readReply(value: Record<string, unknown>): WatchServerMessage | WatchProbeAck | undefined {
  const { type, nonce, code, message } = value;
  if (type === 'probe_ack' && isText(nonce)) return { type, nonce };
  return type === 'error' && isText(code) && isText(message) ? { type, code, message } : undefined;
}

const isEvents = (value: unknown): value is WatchEvent[] =>
  Array.isArray(value) && value.every(isEvent);

const isText = (value: unknown): value is string => typeof value === 'string';

const isPlace = (value: unknown): value is string | null => value === null || isText(value);

function isSnapshot(value: unknown): value is Snapshot {
  if (!isRecord(value) || typeof value.seq !== 'number') return false;
  return [value.runs, value.calls, value.tools, value.clients, value.approvals].every(
    Array.isArray,
  );
}

function isEvent(value: unknown): value is WatchEvent {
  if (!isRecord(value) || typeof value.seq !== 'number') return false;
  switch (value.type) {
    case 'call':
      return typeof value.tool_call_id === 'string' && isRecord(value.update);
    case 'run':
      return isRecord(value.run) && typeof value.run.run_id === 'string';
    case 'message':
      return typeof value.run_id === 'string' && isRecord(value.message);
    case 'message_delta':
      return typeof value.message_id === 'string' && typeof value.delta === 'string';
    case 'tools':
      return Array.isArray(value.tools);
    case 'clients':
      return Array.isArray(value.clients);
    case 'tools_changed':
      return (
        [value.tools, value.removed].every(Array.isArray) &&
        [value.joined, value.first].every(isRecord)
      );
    case 'clients_changed':
      return Array.isArray(value.clients) && Array.isArray(value.removed);
    case 'autonomy':
      return value.of_run === null || typeof value.of_run === 'string';
    case 'devices':
      return typeof value.asking === 'number' && typeof value.waiting === 'number';
    case 'approval':
      return typeof value.tool_call_id === 'string';
    default:
      return false;
  }
}
