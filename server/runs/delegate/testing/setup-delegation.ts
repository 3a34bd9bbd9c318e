import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { Call } from '#lib/call/call';
import { tempDir } from '#lib/testing/temp-dir';
import type { Check } from '../../../approvals/check.ts';
import type { Principal } from '../../../auth/principal.ts';
import { createDiskBlobStore } from '../../../blobs/disk-blob-store.ts';
import { ALLOW_ALL } from '../../../calls/testing/allow-all.ts';
import {
  createScriptedOpenAI,
  fetchFrom,
  type ScriptedRequest,
} from '../../../testing/scripted-openai.ts';
import type { ScriptedReply } from '../../../testing/scripted-openai-events.ts';
import { type AnyServerTool, defineTool } from '../../../tools/define-tool.ts';
import { OwnTools } from '../../../tools/own-tools.ts';
import type { ModelsOptions } from '../../agent/models.ts';
import { NO_BUDGET, type TurnBudget } from '../../agent/spending.ts';
import type { systemClock } from '../../agent/testing/fakes.ts';
import type { TurnDeps } from '../../agent/turn.ts';
import type { PriceTable, SubAgentSettings } from '../../runs-config.ts';
import { holdTool } from '../../testing/hold-tool.ts';
import type { createOwnerTokens } from '../../testing/owner-tokens.ts';
import { openParts, serveRuns } from '../../testing/serve-runs.ts';
import type { DelegationOptions } from '../delegation.ts';

/** Who asks, by its model: `boss` is the parent's. */
export type Script = (request: {
  readonly model: string;
  /** How often this model has asked. */
  readonly index: number;
  readonly request: ScriptedRequest;
}) => ScriptedReply;

export interface DelegationSetup {
  readonly script: Script;
  readonly agents?: Readonly<Record<string, Partial<SubAgentSettings>>>;
  readonly maxDepth?: number;
  readonly budget?: Partial<TurnBudget>;
  readonly check?: Check;
  readonly hasNewTask?: boolean;
  readonly prices?: PriceTable;
  readonly dir?: string;
  /** More tools of the server. */
  readonly tools?: readonly AnyServerTool[];
  readonly tokens?: ReturnType<typeof createOwnerTokens>;
  readonly models?: Partial<ModelsOptions>;
  readonly agent?: Partial<TurnDeps>;
  readonly clock?: typeof systemClock;
}

export const delegate = (agent: string, task = `Work, ${agent}`) => ({
  name: 'delegate',
  args: { agent, task },
});

/** For models of Anthropic and Google. */
export const OTHER_KEYS = { anthropicApiKey: 'sk-ant-test', googleApiKey: 'AIza-test' };

export const helper: Partial<SubAgentSettings> = { tools: ['fx.*'] };

/** Agent, calls, registry, bus and store as they are; the model is a script behind real HTTP. */
export async function setupDelegation(given: DelegationSetup) {
  const dir = given.dir ?? tempDir();
  const asked = new Map<string, number>();
  const openai = await createScriptedOpenAI({
    script: (request) => {
      const model = String(request.body.model);
      const index = asked.get(model) ?? 0;
      asked.set(model, index + 1);
      return given.script({ model, index, request });
    },
  });
  onTestFinished(openai.close);
  const effects: string[] = [];
  const delegation: DelegationOptions = {
    agents: Object.fromEntries(
      Object.entries(given.agents ?? { helper }).map(([name, agent]) => [
        name,
        {
          ...{ description: `The ${name}`, prompt: '', tools: [], budget: NO_BUDGET },
          ...{ model: `openai-chat:${name}` },
          ...agent,
        },
      ]),
    ),
    file: {
      agent: { max_depth: given.maxDepth ?? 2 },
      tools: given.hasNewTask ? { new_task: {} } : {},
    },
  };
  const parts = await openParts(dir, [
    new OwnTools([effect(effects), holdTool('fx.hold'), ...(given.tools ?? [])]),
  ]);
  const { registry, store, errors } = parts;
  const served = serveRuns({
    ...{ parts, openaiUrl: openai.url, prices: given.prices },
    ...(given.tokens && { tokens: given.tokens }),
    ...(given.clock && { clock: given.clock }),
    policy: { ...ALLOW_ALL, check: given.check ?? ALLOW_ALL.check },
    blobs: createDiskBlobStore({ dir: join(dir, 'blobs') }),
    delegation,
    models: {
      ...{ defaultModel: 'openai-chat:boss', fetch: fetchFrom(openai.url) },
      ...given.models,
    },
    agent: {
      ...{ maxRetries: 0, budget: { ...NO_BUDGET, ...given.budget } },
      ...given.agent,
    },
  });
  const { calls, runs, tokens } = served;
  await served.recover();
  let isStopped = false;
  const close = async () => {
    if (!isStopped) await served.close();
    isStopped = true;
  };
  onTestFinished(close);

  const start = (
    input = 'Go',
    more: { tools?: string[]; pinned?: string[]; principal?: Principal; model?: string } = {},
  ) => served.start(input, more);
  const ended = async (runId: string) => {
    await expect.poll(async () => (await runs.get(runId))?.status).not.toBe('running');
    const run = await runs.get(runId);
    if (!run) throw new Error('the run is gone');
    return run;
  };
  const callsOf = async (toolName: string): Promise<Call[]> => {
    const { calls: found } = await calls.list({ limit: 200 });
    return found
      .filter((call) => call.toolName === toolName)
      .toSorted((a, b) => a.createdAt - b.createdAt);
  };
  const turn = async (...args: Parameters<typeof start>) => ended(await start(...args));
  const made = { openai, registry, store, calls, runs, tokens, dir };
  return { ...made, effects, errors, start, ended, turn, callsOf, close };
}

const effect = (effects: string[]) =>
  defineTool({
    name: 'fx.effect',
    displayName: 'Effect',
    description: 'Has an effect',
    args: z.object({ of: z.string() }),
    effect: 'write',
    timeoutMs: 30_000,
    async run({ of }) {
      effects.push(of);
      return { output: `effect of ${of}` };
    },
  });
