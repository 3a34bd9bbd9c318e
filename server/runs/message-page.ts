import { countJson } from '#lib/json/measure-json';
import type { Message, RunRecord } from '#lib/protocol/run';

/** The messages of one answer have no more bytes. */
export const PAGE_BYTES = 1024 * 1024;
/** So many bytes of a run's messages are kept in memory, and sent to a model. */
export const WINDOW_BYTES = 2 * 1024 * 1024;

/** Messages do not change: each is measured once. */
const sizes = new WeakMap<Message, number>();

function sizeOf(message: Message): number {
  const size = sizes.get(message) ?? countJson(message, Number.POSITIVE_INFINITY);
  sizes.set(message, size);
  return size;
}

/** Where the newest messages begin that have `room` bytes together; the last one always fits. */
export function newestFrom(messages: readonly Message[], room: number): number {
  let at = messages.length - 1;
  let left = room - messages.slice(-1).reduce((_, last) => sizeOf(last), 0);
  for (let before = messages[at - 1]; before; before = messages[at - 1]) {
    left -= sizeOf(before);
    if (left < 0) break;
    at -= 1;
  }
  return Math.max(at, 0);
}

/** The newest of `messages`, the last of which stands before position `to`, with the number of all before them (RU34). */
export function messagePage(
  messages: readonly Message[],
  to: number,
): Pick<RunRecord, 'messages' | 'messages_left_out'> {
  const shown = messages.slice(newestFrom(messages, PAGE_BYTES));
  const leftOut = to - shown.length;
  return { messages: shown, ...(leftOut > 0 ? { messages_left_out: leftOut } : {}) };
}

/** A person's message that no step has read. */
export const isUnread = (messages: readonly Message[]): boolean => messages.at(-1)?.role === 'user';
