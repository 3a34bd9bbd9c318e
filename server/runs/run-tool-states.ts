import type { RunTool } from '#lib/protocol/run-tools';
import type { Caller } from '../auth/room.ts';
import type { Agent } from './agent/create-agent.ts';
import type { Models } from './agent/models.ts';
import type { LiveRun } from './live-run.ts';

interface StatesDeps {
  readonly agent: Pick<Agent, 'toolStates'>;
  readonly models: Pick<Models, 'open' | 'defaultModel'>;
}

/** Says of every tool whether the next step offers it, or why not; nothing once the owner's token is revoked. */
export async function readToolStates(
  { agent, models }: StatesDeps,
  run: LiveRun,
  owner: Caller | undefined,
): Promise<readonly RunTool[]> {
  if (!owner) return [];
  const { runId } = run;
  const { model, tools, pinned_tools: pinned = [] } = run.summary();
  const asked = await models.open(model ?? models.defaultModel);
  // One that is not there takes no tools; the one that a run would get then is as good as any.
  const opened = asked.ok ? asked : await models.open(models.defaultModel);
  if (!opened.ok) return [];
  const principal = { kind: 'run', runId, owner } as const;
  return agent.toolStates({
    principal,
    runId,
    tools,
    pinned,
    model: opened.model,
    transcript: run,
  });
}
