import {
  autonomyBodySchema,
  autonomySchema,
  dryRunAnswerSchema,
  dryRunBodySchema,
  policyStateSchema,
} from '#lib/policy/policy-wire';
import { HttpError } from '#lib/protocol/http-error';
import { byCaller, type Caller } from '../../auth/room.ts';
import { OPERATORS, VIEWERS } from '../../doors/room.ts';
import type { HttpDeps } from '../http-deps.ts';
import { json } from '../response.ts';
import { type Route, routesOf } from '../route.ts';

const path = '/v1/policy';
const route = routesOf('access');

export const policyRoutes = ({ policy, audit, tools }: HttpDeps): Route[] => [
  route('GET', path, {
    id: 'getPolicy',
    summary: 'The policy that counts, and why the file does not where it does not',
    access: VIEWERS,
    answers: ['The policy', policyStateSchema],
    handle: () => policy.state(),
  }),
  route('POST', `${path}/dry-run`, {
    id: 'tryPolicy',
    summary: 'What would become of a call, by which rule, and why. Nothing is called',
    access: OPERATORS,
    body: dryRunBodySchema,
    responses: { 200: { description: 'The decision', schema: dryRunAnswerSchema } },
    async handle({ principal, body }) {
      const { run_id: runId, policy: tried, ...asked } = body;
      const caller = body.caller ?? toCaller(principal);
      const tool = tools.nameOf(body.tool);
      const answer = await policy.dryRun({ ...asked, tool, caller, runId, policy: tried });
      return json(200, answer);
    },
  }),
  route('PUT', `${path}/autonomy`, {
    id: 'setAutonomy',
    summary: 'What agents do without a person, from the next call on: of all runs, or of one',
    access: OPERATORS,
    body: autonomyBodySchema,
    answers: ['The levels that count now', autonomySchema],
    async handle({ principal, body: { level, run_id: runId = null }, context: { address } }) {
      const outcome = await policy.setAutonomy(principal, level, runId);
      if (outcome !== 'set') throw REFUSED[outcome]();
      const act = { act: 'autonomy_set', target: runId, detail: { level } } as const;
      await audit.record(byCaller(principal, address, act));
      return policy.state().autonomy;
    },
  }),
];

const REFUSED = {
  not_permitted: () =>
    new HttpError(
      'permission_denied',
      'The autonomy is set by a person with the role "operator" or "admin".',
    ),
  too_many: () =>
    new HttpError('conflict', `Too many runs have a level of their own; GET ${path} lists them.`),
};

const toCaller = (caller: Caller) =>
  caller.kind === 'operator'
    ? { kind: caller.kind, name: caller.name, role: caller.role }
    : { kind: caller.kind, name: caller.kind === 'agent' ? caller.name : caller.clientId };
