import { runToolsPageSchema, runToolsQuerySchema } from '#lib/protocol/rest';
import type { Offer, RunTool } from '#lib/protocol/run-tools';
import type { HttpDeps } from '../http-deps.ts';
import { json } from '../response.ts';
import { defineRoute, type Route } from '../route.ts';
import { findRun, READERS } from './access.ts';

export const runToolsRoute = (deps: Pick<HttpDeps, 'runs'>): Route =>
  defineRoute({
    method: 'GET',
    path: '/v1/runs/:id/tools',
    id: 'listRunTools',
    tag: 'runs',
    summary:
      'Of every tool, by name, whether the next step of the run offers it to the model, or why not; by page',
    access: READERS,
    query: runToolsQuerySchema,
    responses: { 200: { description: 'A page of tools', schema: runToolsPageSchema } },
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
      return json(200, { run_id, tools: page, next_after, counts: countsOf(all) });
    },
  });

function countsOf(tools: readonly RunTool[]): Partial<Record<Offer, number>> {
  const counts: Partial<Record<Offer, number>> = {};
  for (const { offer } of tools) counts[offer] = (counts[offer] ?? 0) + 1;
  return counts;
}
