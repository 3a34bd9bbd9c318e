import { askingText } from '#lib/protocol/asking-client';
import { HttpError } from '#lib/protocol/http-error';
import {
  messagesPageSchema,
  messagesQuerySchema,
  modelTurnsPageSchema,
  modelTurnsQuerySchema,
  runsPageSchema,
  runsQuerySchema,
  runToolsPageSchema,
  runToolsQuerySchema,
  sendMessageBodySchema,
  startRunBodySchema,
} from '#lib/protocol/rest';
import { type NewSettings, type RunRecord, runRecordSchema } from '#lib/protocol/run';
import type { Offer, RunTool } from '#lib/protocol/run-tools';
import { given } from '#lib/util/given';
import { ownsRun, ownToken, principalName } from '../../auth/room.ts';
import { AGENTS, READERS } from '../../doors/room.ts';
import type { RunOutcome } from '../../runs/room.ts';
import { readTraceparent } from '../../telemetry/room.ts';
import type { HttpDeps } from '../http-deps.ts';
import { type Route, routesOf } from '../route.ts';
import { type Act, findRun, writeDown } from './access.ts';

const route = routesOf('runs');
const record = ['The run', runRecordSchema] as const;

export const runRoutes = (deps: HttpDeps): Route[] => [
  route('GET', '/v1/runs', {
    id: 'listRuns',
    summary: 'Runs, the latest first',
    access: READERS,
    query: runsQuerySchema,
    answers: ['A page of runs', runsPageSchema],
    async handle({ principal, query }) {
      const { runs, nextCursor } = await deps.runs.list({
        limit: query.limit,
        ...given({ cursor: query.cursor, ownerToken: ownToken(principal) }),
      });
      return { runs, next_cursor: nextCursor };
    },
  }),
  route('GET', '/v1/runs/:id', {
    id: 'getRun',
    summary:
      'One run with its newest messages, at most 1 MiB of them; messages_left_out says how many older ones there are',
    access: READERS,
    answers: record,
    handle: async ({ principal, params }) => await findRun(deps, principal, params.id),
  }),
  route('GET', '/v1/runs/:id/messages', {
    id: 'listMessages',
    summary:
      'Messages of a run by page, the newest page first, oldest first in each: before is the messages_left_out of the page that was read last',
    access: READERS,
    query: messagesQuerySchema,
    answers: ['A page of messages', messagesPageSchema],
    async handle({ principal, params, query: { before } }) {
      const run = await findRun(deps, principal, params.id);
      const { run_id } = run;
      if (before !== undefined) {
        return { run_id, ...(await deps.runs.messagesBefore(run_id, before)) };
      }
      const { messages, messages_left_out } = run;
      return { run_id, messages, ...given({ messages_left_out }) };
    },
  }),
  route('GET', '/v1/runs/:id/model_turns', {
    id: 'listModelTurns',
    summary:
      'Requests of a run to its models, in order: times, end, tokens, and hashes of what was sent. A page may hold fewer than limit: next_after is null on the last one',
    access: READERS,
    query: modelTurnsQuerySchema,
    answers: ['A page of requests', modelTurnsPageSchema],
    async handle({ principal, params, query }) {
      const run = await findRun(deps, principal, params.id);
      const { after = 0, limit, message_id } = query;
      const page = await deps.runs.modelTurns({
        runId: run.run_id,
        after,
        limit,
        ...given({ messageId: message_id }),
      });
      const { turns = [], nextAfter = null } = page ?? {};
      return { model_turns: turns, next_after: nextAfter };
    },
  }),
  route('POST', '/v1/runs', {
    id: 'startRun',
    summary: 'Ask the built-in agent for something. The run goes on when callers disconnect',
    access: AGENTS,
    body: startRunBodySchema,
    answers: record,
    async handle({ principal, body, context }) {
      const { input, model, tools, client_id, instance_id, pinned_tools } = body;
      const clientId = askingText(client_id, instance_id);
      const traceparent = readTraceparent(context.incoming.headers.traceparent);
      const more = given({ clientId, model, tools, pinned: pinned_tools, traceparent });
      const outcome = await deps.runs.start({ principal, input, ...settingsOf(body), ...more });
      return audited(deps, outcome, { principal, context, act: 'run_started' });
    },
  }),
  route('POST', '/v1/runs/:id/messages', {
    id: 'sendMessage',
    summary: 'Send the next message of a run, or one in the place of an earlier one',
    access: AGENTS,
    body: sendMessageBodySchema,
    answers: record,
    async handle({ principal, params, body, context }) {
      const { input, model, client_id, instance_id, replaces } = body;
      const before = await findRun(deps, principal, params.id);
      const traceparent = readTraceparent(context.incoming.headers.traceparent);
      const clientId = askingText(client_id, instance_id);
      const more = given({ input, clientId, model, replaces, traceparent, ...settingsOf(body) });
      const outcome = await deps.runs.send(before.run_id, { by: principal, ...more });
      if (replaces !== undefined) {
        const detail = { message_id: replaces, edited: input !== undefined };
        return audited(deps, outcome, { principal, context, act: 'message_replaced', detail });
      }
      if (ownsRun(principal, before)) return done(outcome);
      return audited(deps, outcome, { principal, context, act: 'message_sent' });
    },
  }),
  route('POST', '/v1/runs/:id/cancel', {
    id: 'cancelRun',
    summary: 'Stop the turn that runs, and cancel its calls',
    access: AGENTS,
    answers: record,
    async handle({ principal, params, context }) {
      const { run_id, status } = await findRun(deps, principal, params.id);
      const outcome = await deps.runs.cancel(run_id, principalName(principal));
      // An idle run stays as it is.
      if (status !== 'running') return done(outcome);
      return audited(deps, outcome, { principal, context, act: 'run_stopped' });
    },
  }),
  route('GET', '/v1/runs/:id/tools', {
    id: 'listRunTools',
    summary:
      'Of every tool, by name, whether the next step of the run offers it to the model, or why not; by page',
    access: READERS,
    query: runToolsQuerySchema,
    answers: ['A page of tools', runToolsPageSchema],
    async handle({ principal, params, query: { after = '', limit, offer } }) {
      const { run_id } = await findRun(deps, principal, params.id);
      const tools = (await deps.runs.tools(run_id)) ?? [];
      // A program is told of no tool that its allow-list does not hold.
      const isKnown = ({ offer }: RunTool) =>
        principal.kind !== 'agent' || offer !== 'not_permitted';
      const all = tools.filter(isKnown);
      const rest = all.filter(
        (tool) => tool.name > after && (offer === undefined || tool.offer === offer),
      );
      const page = rest.slice(0, limit);
      const next_after = rest.length > limit ? (page.at(-1)?.name ?? null) : null;
      return { run_id, tools: page, next_after, counts: countsOf(all) };
    },
  }),
];

/** Writes down what a person did and took effect, without the words of a message. */
async function audited(
  deps: HttpDeps,
  outcome: RunOutcome,
  { act, detail = {}, ...asked }: Act,
): Promise<RunRecord> {
  if (outcome.ok && asked.principal.kind === 'operator') {
    await writeDown(deps, asked, { act, target: outcome.run.run_id, detail });
  }
  return done(outcome);
}

function done(outcome: RunOutcome): RunRecord {
  if (outcome.ok) return outcome.run;
  throw new HttpError(outcome.code, outcome.message);
}

/** Nothing where a body has none of them. */
function settingsOf(body: NewSettings): { readonly settings?: NewSettings } {
  const { instructions, temperature, reasoning_effort } = body;
  const settings = given({ instructions, temperature, reasoning_effort });
  return Object.keys(settings).length === 0 ? {} : { settings };
}

function countsOf(tools: readonly RunTool[]): Partial<Record<Offer, number>> {
  const counts: Partial<Record<Offer, number>> = {};
  for (const { offer } of tools) counts[offer] = (counts[offer] ?? 0) + 1;
  return counts;
}
