import { runAgentInputSchema } from '#lib/protocol/ag-ui';
import { LIMITS } from '#lib/protocol/limits';
import { AGENTS } from '../../doors/room.ts';
import type { HttpDeps } from '../http-deps.ts';
import { createStreamPlaces, eventResponse } from '../open-responses.ts';
import { type Route, routesOf } from '../route.ts';

const route = routesOf('ag-ui');

/** Turns of the built-in agent for front ends that speak AG-UI 1.0 (docs/ag-ui.md). */
export function agUiRoute(deps: HttpDeps): Route {
  const takePlace = createStreamPlaces('streams of AG-UI');
  return route('POST', '/ag-ui', {
    id: 'runAgUi',
    summary:
      'A turn of the built-in agent as events of AG-UI 1.0: of a new message, or the one that runs. It goes on when the front end leaves',
    access: AGENTS,
    body: runAgentInputSchema,
    // Pictures are in it, and those of before once more.
    maxBodyBytes: LIMITS.frameBytes,
    responses: { 200: { description: 'text/event-stream; data is an event of AG-UI as JSON' } },
    async handle({ principal, body, context }) {
      takePlace(principal, context.outgoing);
      const { address } = context;
      const signal = context.signal();
      const begin = await deps.agUi.open({ caller: principal, address, body, signal });
      return eventResponse(deps, principal, ({ send, end }) =>
        begin({ send: (event) => send(`data: ${JSON.stringify(event)}\n\n`), end }),
      );
    },
  });
}
