import { type Caller, followCaller } from '../auth/room.ts';
import {
  EVENT_STREAM,
  type EventWriter,
  type EventWriterDeps,
  openEventWriter,
} from './event-writer.ts';
import type { HttpDeps } from './http-deps.ts';
import type { HttpResponse } from './response.ts';

type Deps = EventWriterDeps & Pick<HttpDeps, 'sessions' | 'tokens'>;

/**
 * Server-Sent Events for a caller, until that one may have them no more. `begin` gives the function
 * that is called once the reader has left.
 */
export const eventResponse = (
  deps: Deps,
  caller: Caller,
  begin: (writer: EventWriter) => () => void,
): HttpResponse => ({
  status: 200,
  headers: EVENT_STREAM,
  stream(outgoing) {
    const unfollow = followCaller(deps, caller, () => void outgoing.end());
    outgoing.once('close', unfollow);
    outgoing.once('close', begin(openEventWriter(deps, outgoing)));
  },
});
