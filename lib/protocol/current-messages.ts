import type { Message } from './run.ts';

type Placed = Pick<Message, 'message_id' | 'replaces'>;

/**
 * The conversation as it stands: a message that replaces another one takes the place of it and of
 * all that came after. What was replaced stays on record. A message that was replaced already
 * cannot be replaced. One that is not there is older than the messages given, as the server takes
 * no other; all of them that come before are replaced then.
 */
export function currentMessages<Any extends Placed>(messages: readonly Any[]): Any[] {
  const current: Any[] = [];
  const places = new Map<string, number>();
  for (const message of messages) {
    if (message.replaces !== undefined) {
      const at = places.get(message.replaces);
      if (at === undefined) current.length = 0;
      else if (current[at]?.message_id === message.replaces) current.length = at;
    }
    places.set(message.message_id, current.length);
    current.push(message);
  }
  return current;
}
