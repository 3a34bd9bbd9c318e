import { matchTools } from '#lib/policy/match';
import type { RunSummary } from '#lib/protocol/run';
import type { ToolListing } from '#lib/protocol/tool-spec';
import type { Models } from '../agent/models.ts';
import type { SubAgentSettings } from '../runs-config.ts';

export interface SubAgent extends SubAgentSettings {
  readonly name: string;
  mayUse(toolName: string): boolean;
}

export const toSubAgents = (
  agents: Readonly<Record<string, SubAgentSettings>>,
): ReadonlyMap<string, SubAgent> =>
  new Map(
    Object.entries(agents).map(([name, agent]) => [
      name,
      { ...agent, name, mayUse: matchTools(agent.tools) },
    ]),
  );

/** The tools that it may use, of those of the run that delegates to it (DE3). */
export function toolsOf(
  agent: SubAgent,
  listings: readonly ToolListing[],
  ofParent: readonly string[] | null,
): string[] {
  const allowed = ofParent && new Set(ofParent);
  return listings
    .filter(({ name, callable }) => callable && agent.mayUse(name))
    .map(({ name }) => name)
    .filter((name) => allowed?.has(name) ?? true);
}

export const modelOf = (
  { model }: SubAgent,
  parent: Pick<RunSummary, 'model'>,
): string | undefined => model ?? parent.model ?? undefined;

/** Gives one line for the log about each sub-agent that is not offered, as its model is not set up. */
export const withoutModel = (
  agents: Readonly<Record<string, SubAgentSettings>>,
  models: Pick<Models, 'resolve'>,
): string[] =>
  Object.entries(agents).flatMap(([name, { model }]) => {
    const resolved = model === undefined ? undefined : models.resolve(model);
    return resolved?.ok === false
      ? [`The sub-agent ${name} is not offered. ${resolved.message}`]
      : [];
  });
