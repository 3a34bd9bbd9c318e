import type { WatchEvent, WatchEventBody } from '#lib/protocol/watch-messages';
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

/** Only TypeScript needs it said that a member of the union without its number gets it back. */
export const numbered = (body: WatchEventBody, seq: number): WatchEvent =>
  ({ ...body, seq }) as WatchEvent;
