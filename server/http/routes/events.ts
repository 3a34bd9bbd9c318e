import { eventsQuerySchema } from '#lib/protocol/rest';
import { followCaller } from '../../auth/room.ts';
import { createCountOfEach } from '../count-of-each.ts';
import { EVENT_STREAM } from '../event-writer.ts';
import type { HttpDeps } from '../http-deps.ts';
import { defineRoute, type Route } from '../route.ts';
import { streamRunEvents } from '../run-event-stream.ts';
import { takePlace } from '../take-place.ts';
import { findRun, READERS } from './access.ts';

type Deps = Pick<
  HttpDeps,
  'runs' | 'bus' | 'snapshot' | 'clock' | 'logger' | 'closing' | 'sessions' | 'tokens'
>;

/**
 * Of one token: as many as runs of a program may have a turn at a time. A reader that takes nothing
 * has up to 4 MiB of the server's memory.
 */
const MOST_STREAMS = 64;
const TOO_MANY = `${MOST_STREAMS} streams of events are open with this token. Close one first.`;

/** Server-Sent Events of one run: what the watch socket sends (contract, sections 6 and 8). */
export function eventsRoute(deps: Deps): Route {
  const streams = createCountOfEach(MOST_STREAMS);
  return defineRoute({
    method: 'GET',
    path: '/v1/runs/:id/events',
    id: 'watchRun',
    tag: 'runs',
    summary:
      'Server-Sent Events of a run: a snapshot, or what is newer than since (or Last-Event-ID)',
    access: READERS,
    query: eventsQuerySchema,
    headers: { 'Last-Event-ID': 'As since, which it replaces: a reader that reconnects sends it' },
    responses: { 200: { description: 'text/event-stream; data is the event as JSON' } },
    async handle({ principal, params, query, context }) {
      const runId = params.id;
      await findRun(deps, principal, runId);
      takePlace(streams, principal, context.outgoing, TOO_MANY);
      // A reader that reconnects sends by itself how far it has come.
      const since = readLastEventId(context.incoming.headers['last-event-id']) ?? query.since;
      return {
        status: 200,
        headers: EVENT_STREAM,
        stream(outgoing) {
          const leave = followCaller(deps, principal, () => void outgoing.end());
          outgoing.once('close', leave);
          streamRunEvents(deps, outgoing, { runId, since });
        },
      };
    },
  });
}

function readLastEventId(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : undefined;
}
