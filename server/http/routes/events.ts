import { eventsQuerySchema } from '#lib/protocol/rest';
import { READERS } from '../../doors/room.ts';
import { followRun } from '../../events/room.ts';
import type { HttpDeps } from '../http-deps.ts';
import { createStreamPlaces, type EventWriter, eventResponse } from '../open-responses.ts';
import { type Route, routesOf } from '../route.ts';
import { findRun } from './access.ts';

const route = routesOf('runs');

/** Server-Sent Events of one run: what the watch socket sends (contract, sections 6 and 8). */
export function eventsRoute(deps: HttpDeps): Route {
  const takePlace = createStreamPlaces('streams of events');
  return route('GET', '/v1/runs/:id/events', {
    id: 'watchRun',
    summary:
      'Server-Sent Events of a run: a snapshot, or what is newer than since (or Last-Event-ID)',
    access: READERS,
    query: eventsQuerySchema,
    headers: { 'Last-Event-ID': 'As since, which it replaces: a reader that reconnects sends it' },
    responses: { 200: { description: 'text/event-stream; data is the event as JSON' } },
    async handle({ principal, params, query, context }) {
      const runId = params.id;
      await findRun(deps, principal, runId);
      takePlace(principal, context.outgoing);
      // A reader that reconnects sends by itself how far it has come.
      const since = readLastEventId(context.incoming.headers['last-event-id']) ?? query.since;
      return eventResponse(deps, principal, (writer) => sendEvents(deps, writer, { runId, since }));
    },
  });
}

function readLastEventId(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : undefined;
}

/**
 * Sends one run's events until the function that it gives is called: first what is newer than
 * `since`, or a snapshot where the log does not reach back that far; then what happens, in order
 * and without a gap.
 */
function sendEvents(
  deps: HttpDeps,
  { send, destroy, isOver }: EventWriter,
  { runId, since }: { readonly runId: string; readonly since: number | undefined },
): () => void {
  const events = followRun(deps.bus, runId, since);
  const release = (afterSeq: number) =>
    events.releaseTogether(afterSeq, (some) =>
      send(some.map(({ event, json }) => `id: ${event.seq}\ndata: ${json}\n\n`).join('')),
    );
  if (isOver) return events.close;
  if (since !== undefined && events.isComplete) {
    release(since);
    return events.close;
  }
  deps.snapshot({ runId }).then(
    ({ seq, text }) => {
      send(`id: ${seq}\ndata: ${text}\n\n`);
      release(seq);
    },
    (error: unknown) => {
      deps.logger.error(error);
      destroy();
    },
  );
  return events.close;
}
