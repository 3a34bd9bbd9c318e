import type { WatchEvent } from '#lib/protocol/watch-messages';
import type { LoggedEvent } from './event-bus.ts';

/** The text is made when the first watcher wants it, and then shared by all. */
export function loggedEvent(event: WatchEvent): LoggedEvent {
  let json: string | undefined;
  return {
    event,
    get json() {
      json ??= JSON.stringify(event);
      return json;
    },
  };
}
