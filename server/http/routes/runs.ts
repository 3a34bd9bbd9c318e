import { HttpError } from '#lib/protocol/http-error';
import {
  modelTurnsPageSchema,
  modelTurnsQuerySchema,
  runsPageSchema,
  runsQuerySchema,
  sendMessageBodySchema,
  startRunBodySchema,
} from '#lib/protocol/rest';
import { runRecordSchema } from '#lib/protocol/run';
import { given } from '#lib/util/given';
import type { RunOutcome } from '../../runs/run-service.ts';
import type { HttpDeps } from '../http-deps.ts';
import { type HttpResponse, json } from '../response.ts';
import { defineRoute, type Route } from '../route.ts';
import { AGENTS, findRun, ownToken, READERS } from './access.ts';

type Deps = Pick<HttpDeps, 'runs'>;

const tag = 'runs';
const record = { 200: { description: 'The run', schema: runRecordSchema } };

const reading = (deps: Deps): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/v1/runs',
    id: 'listRuns',
    tag,
    summary: 'Runs, the latest first',
    access: READERS,
    query: runsQuerySchema,
    responses: { 200: { description: 'A page of runs', schema: runsPageSchema } },
    async handle({ principal, query }) {
      const { runs, nextCursor } = await deps.runs.list({
        limit: query.limit,
        ...given({ cursor: query.cursor, ownerToken: ownToken(principal) }),
      });
      return json(200, { runs, next_cursor: nextCursor });
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/runs/:id',
    id: 'getRun',
    tag,
    summary: 'One run with its messages',
    access: READERS,
    responses: record,
    handle: async ({ principal, params }) => json(200, await findRun(deps, principal, params.id)),
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/runs/:id/model_turns',
    id: 'listModelTurns',
    tag,
    summary:
      'Requests of a run to its models, in order: times, end, tokens, and hashes of what was sent. A page may hold fewer than limit: next_after is null on the last one',
    access: READERS,
    query: modelTurnsQuerySchema,
    responses: { 200: { description: 'A page of requests', schema: modelTurnsPageSchema } },
    async handle({ principal, params, query }) {
      const run = await findRun(deps, principal, params.id);
      const { after = 0, limit, message_id } = query;
      const page = await deps.runs.modelTurns({
        ...{ runId: run.run_id, after, limit },
        ...given({ messageId: message_id }),
      });
      const { turns = [], nextAfter = null } = page ?? {};
      return json(200, { model_turns: turns, next_after: nextAfter });
    },
  }),
];

const acting = (deps: Deps): Route[] => [
  defineRoute({
    method: 'POST',
    path: '/v1/runs',
    id: 'startRun',
    tag,
    summary: 'Ask the built-in agent for something. The run goes on when callers disconnect',
    access: AGENTS,
    body: startRunBodySchema,
    responses: record,
    handle: async ({ principal, body: { input, model, tools, client_id } }) =>
      done(
        await deps.runs.start({
          principal,
          input,
          ...given({ clientId: client_id, model, tools }),
        }),
      ),
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/runs/:id/messages',
    id: 'sendMessage',
    tag,
    summary: 'Send the next message of a run',
    access: AGENTS,
    body: sendMessageBodySchema,
    responses: record,
    async handle({ principal, params, body: { input, model, client_id } }) {
      const { run_id } = await findRun(deps, principal, params.id);
      const more = given({ clientId: client_id, model });
      return done(await deps.runs.send(run_id, { input, ...more }));
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/runs/:id/cancel',
    id: 'cancelRun',
    tag,
    summary: 'Stop the turn that runs, and cancel its calls',
    access: AGENTS,
    responses: record,
    async handle({ principal, params }) {
      const { run_id } = await findRun(deps, principal, params.id);
      return done(await deps.runs.cancel(run_id));
    },
  }),
];

export const runRoutes = (deps: Deps): Route[] => [...reading(deps), ...acting(deps)];

function done(outcome: RunOutcome): HttpResponse {
  if (outcome.ok) return json(200, outcome.run);
  throw new HttpError(outcome.code, outcome.message);
}
