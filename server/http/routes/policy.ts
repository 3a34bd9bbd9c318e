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

export const policyRoutes = (deps: HttpDeps): Route[] => {
  const { policy, audit } = deps;
  return [
    route('GET', path, {
      id: 'getPolicy',
      summary: 'The policy that counts, and why the file does not where it does not',
      access: VIEWERS,
      responses: { 200: { description: 'The policy', schema: policyStateSchema } },
      handle: () => json(200, policy.state()),
    }),
    dryRunRoute(deps),
    route('PUT', `${path}/autonomy`, {
      id: 'setAutonomy',
      summary: 'What agents do without a person, from the next call on: of all runs, or of one',
      access: OPERATORS,
      body: autonomyBodySchema,
      responses: { 200: { description: 'The levels that count now', schema: autonomySchema } },
      async handle({ principal, body: { level, run_id: runId = null }, context: { address } }) {
        const outcome = await policy.setAutonomy(principal, level, runId);
        if (outcome !== 'set') throw REFUSED[outcome]();
        const act = { act: 'autonomy_set', target: runId, detail: { level } } as const;
        await audit.record(byCaller(principal, address, act));
        return json(200, policy.state().autonomy);
      },
    }),
  ];
};

const dryRunRoute = ({ policy, tools }: HttpDeps): Route =>
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
      return json(200, await policy.dryRun({ ...asked, tool, caller, runId, policy: tried }));
    },
  });

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
