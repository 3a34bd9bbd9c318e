import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect } from 'vitest';
import { z } from 'zod';
import type { CallRecord } from '#lib/call/call-record';
import { MODEL_OUTPUT_BYTES } from '#lib/call/model-output';
import { FIRST_OPERATOR, type Principal } from '../../../auth/principal.ts';
import { createDiskBlobStore } from '../../../blobs/disk-blob-store.ts';
import { CircuitBreaker } from '../../../calls/breaker.ts';
import type { Check } from '../../../calls/check.ts';
import { createCalls } from '../../../calls/create-call-service.ts';
import { createMemoryBus } from '../../../events/memory-bus.ts';
import { createRehearsalModel } from '../../../rehearsal/rehearsal-model.ts';
import { createSqliteStore } from '../../../store/sqlite-store.ts';
import { createErrorLog } from '../../../testing/error-log.ts';
import {
  createScriptedOpenAI,
  fetchFrom,
  type ScriptedRequest,
} from '../../../testing/scripted-openai.ts';
import type { ScriptedReply } from '../../../testing/scripted-openai-events.ts';
import { type AnyServerTool, defineTool } from '../../../tools/define-tool.ts';
import { createToolRegistry } from '../../../tools/memory-tool-registry.ts';
import { OwnTools } from '../../../tools/own-tools.ts';
import { createAgent } from '../../agent/create-agent.ts';
import { createModels, type ModelsOptions } from '../../agent/models.ts';
import { systemClock as clock } from '../../agent/testing/fakes.ts';
import type { TurnDeps } from '../../agent/turn.ts';
import { NO_BUDGET, type TurnBudget } from '../../agent/turn-budget.ts';
import { createRunService } from '../../create-run-service.ts';
import { createKnownRuns } from '../../known-runs.ts';
import { RunTools } from '../../run-tools/run-tools.ts';
import type { PriceTable } from '../../run-usage.ts';
import { createOwnerTokens } from '../../testing/owner-tokens.ts';
import { Delegation } from '../delegation.ts';
import type { SubAgentSettings } from '../sub-agents.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

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
  const dir = given.dir ?? mkdtempSync(join(tmpdir(), 'callboard-delegate-'));
  if (given.dir === undefined) closing.push(async () => rmSync(dir, { recursive: true }));
  const asked = new Map<string, number>();
  const openai = await createScriptedOpenAI({
    script: (request) => {
      const model = String(request.body.model);
      const index = asked.get(model) ?? 0;
      asked.set(model, index + 1);
      return given.script({ model, index, request });
    },
  });
  closing.push(openai.close);
  const { logger, errors } = createErrorLog();
  const store = createSqliteStore({ file: join(dir, 'callboard.db') });
  const bus = createMemoryBus({ firstSeq: await store.reserveSeqs(1_000), logger });
  const effects: string[] = [];
  const tokens = given.tokens ?? createOwnerTokens();
  const delegation = new Delegation({
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
  });
  const runTools = new RunTools(MODEL_OUTPUT_BYTES);
  const registry = createToolRegistry({
    providers: [
      new OwnTools([effect(effects), hold(), ...(given.tools ?? [])]),
      new OwnTools([...delegation.tools(), ...runTools.tools()]),
    ],
    availability: () => ({ name: '', visible: false, responsive: false, lastTouchedAt: 0 }),
  });
  let ids = 0;
  const stamp = Date.now().toString(36);
  const newId = (prefix: string) => `${prefix}_${stamp}${++ids}`;
  const known = createKnownRuns({
    ...{ store, bus, clock, newId, maxSteps: 10, logger },
    prices: given.prices,
  });
  const calls = createCalls({
    ...{ store, bus, registry, clock, logger, claimRun: known.claim },
    breaker: new CircuitBreaker({ clock, store, logger }),
    policy: {
      check: given.check ?? (() => ({ verdict: 'allow' })),
      checkEdit: () => undefined,
      denial: () => undefined,
    },
    blobs: createDiskBlobStore({ dir: join(dir, 'blobs') }),
    callers: { callerOf: tokens.owners.callerOf, operatorNamed: () => undefined },
    rootOf: delegation.rootOf,
    newCallId: () => newId('tc'),
    facts: () => undefined,
    onDurable: () => undefined,
  });
  tokens.owners.onRevoked((id) => void calls.ownerRevoked(id).catch(logger.error));
  const models = createModels({
    openaiApiKey: 'sk-test',
    openaiBaseUrl: openai.url,
    defaultModel: 'openai-chat:boss',
    rehearsal: createRehearsalModel({ clock, paceMs: 0 }),
    clock,
    fetch: fetchFrom(openai.url),
    ...given.models,
  });
  const images = {
    readBlob: async () => undefined,
    scaleForModel: async () => ({ ok: false as const, message: 'no pictures here' }),
  };
  const agent = createAgent({
    ...{ calls, registry: delegation.offering(registry), clock, images, logger, maxRetries: 0 },
    budget: { ...NO_BUDGET, ...given.budget },
    ...given.agent,
  });
  const runs = createRunService({
    ...{ known, store, bus, clock, newId, calls, agent, models, owners: tokens.owners, logger },
    ...{ subAgent: delegation.settingsOf, clientsReturnMs: 0, offersTools: () => true },
  });
  runTools.connect({ calls, runs, registry: delegation.offering(registry) });
  delegation.connect({ runs, known, registry, models, owners: tokens.owners });
  await calls.recover();
  await runs.recover();
  const stop = async () => {
    await runs.close();
    calls.stop();
    await store.close();
  };
  let isStopped = false;
  const close = async () => {
    if (!isStopped) await stop();
    isStopped = true;
  };
  closing.push(close);

  const start = async (
    input = 'Go',
    more: { tools?: string[]; pinned?: string[]; principal?: Principal; model?: string } = {},
  ) => {
    const outcome = await runs.start({ principal: FIRST_OPERATOR, input, ...more });
    if (!outcome.ok) throw new Error(outcome.message);
    return outcome.run.run_id;
  };
  const ended = async (runId: string) => {
    await expect.poll(async () => (await runs.get(runId))?.status).not.toBe('running');
    const run = await runs.get(runId);
    if (!run) throw new Error('the run is gone');
    return run;
  };
  const callsOf = async (toolName: string): Promise<CallRecord[]> => {
    const { calls: found } = await calls.list({ limit: 200 });
    return found
      .filter((call) => call.toolName === toolName)
      .toSorted((a, b) => a.createdAt - b.createdAt);
  };
  const turn = async (...args: Parameters<typeof start>) => ended(await start(...args));
  const parts = { openai, registry, delegation, store, calls, runs, tokens, dir };
  return { ...parts, effects, errors, start, ended, turn, callsOf, close };
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

/** Until it is stopped. */
const hold = () =>
  defineTool({
    name: 'fx.hold',
    displayName: 'Hold',
    description: 'Waits',
    args: z.object({}),
    effect: 'write',
    timeoutMs: 60_000,
    run: (_args, { signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      }),
  });
