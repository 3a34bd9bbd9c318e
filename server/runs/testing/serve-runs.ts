import { join } from 'node:path';
import { FIRST_OPERATOR } from '../../auth/principal.ts';
import { Breaker } from '../../calls/breaker.ts';
import { type CallServiceDeps, createCalls } from '../../calls/create-call-service.ts';
import { createMemoryBus } from '../../events/memory-bus.ts';
import { createRehearsalModel } from '../../rehearsal/rehearsal-model.ts';
import { createFoldingStore } from '../../store/testing/folding-store.ts';
import { createTracing, type Tracing } from '../../telemetry/tracing.ts';
import { createErrorLog } from '../../testing/error-log.ts';
import { OwnTools } from '../../tools/own-tools.ts';
import type { ToolProvider } from '../../tools/tool-provider.ts';
import { ToolRegistry } from '../../tools/tool-registry.ts';
import { createAgent } from '../agent/create-agent.ts';
import { Models, type ModelsOptions } from '../agent/models.ts';
import { systemClock } from '../agent/testing/fakes.ts';
import type { TurnDeps } from '../agent/turn.ts';
import { AgentRuns, type RunServiceDeps } from '../agent-runs.ts';
import { createRunTools } from '../create-runs.ts';
import { Delegation, type DelegationOptions } from '../delegate/delegation.ts';
import { KnownRuns, type KnownRunsDeps } from '../known-runs.ts';
import { createOwnerTokens } from './owner-tokens.ts';

/** The record and the tools of a server that a test starts. */
export async function openParts(dir: string, providers: readonly ToolProvider[]) {
  const { logger, errors } = createErrorLog();
  const store = createFoldingStore({ file: join(dir, 'callboard.db') });
  const bus = createMemoryBus({ firstSeq: await store.reserveSeqs(1_000), logger });
  const registry = new ToolRegistry({
    providers,
    availability: () => ({ name: '', visible: false, responsive: false, lastTouchedAt: 0 }),
  });
  return { logger, errors, store, bus, registry };
}

const NO_TRACES = { version: '1', hide: (text: string) => text };

interface ServedRuns {
  readonly parts: Awaited<ReturnType<typeof openParts>>;
  /** Of the provider of models. */
  readonly openaiUrl: string;
  readonly policy: CallServiceDeps['policy'];
  readonly models: Partial<ModelsOptions>;
  readonly blobs?: CallServiceDeps['blobs'];
  readonly tokens?: ReturnType<typeof createOwnerTokens>;
  readonly clock?: typeof systemClock;
  readonly prices?: KnownRunsDeps['prices'];
  readonly agent?: Partial<TurnDeps>;
  /** Of sub-agents that a test starts by itself. */
  readonly subAgent?: RunServiceDeps['subAgent'];
  /** With it there are the tools about runs. */
  readonly delegation?: DelegationOptions;
  readonly tracing?: Tracing;
}

/** Calls, agent and runs as they are, on what `openParts` opened. Nothing is taken up before `recover`. */
export function serveRuns(given: ServedRuns) {
  const { logger, store, bus, registry } = given.parts;
  const { tokens = createOwnerTokens() } = given;
  const { clock = systemClock } = given;
  const { blobs = { put: () => Promise.reject(new Error('no blobs here')) } } = given;
  let ids = 0;
  const stamp = Date.now().toString(36);
  const newId = (prefix: string) => `${prefix}_${stamp}${++ids}`;
  const { tracing = createTracing({ config: undefined, ...NO_TRACES, clock, logger }) } = given;
  const ofRuns = { store, bus, clock, newId, logger, spans: tracing };
  const known = new KnownRuns({ ...ofRuns, maxSteps: 10, prices: given.prices });
  const calls = createCalls({
    ...{ store, bus, registry, clock, logger, claimRun: known.claim },
    ...{ policy: given.policy, blobs, rootOf: known.rootOf },
    breaker: new Breaker({ clock, store, logger }),
    callers: { callerOf: tokens.owners.callerOf, operatorNamed: () => undefined },
    newCallId: () => newId('tc'),
    facts: () => undefined,
    isTracing: tracing.isOn,
  });
  calls.onDurable(tracing.observe);
  tokens.owners.onRevoked((id) => void calls.ownerRevoked(id).catch(logger.error));
  const models = new Models({
    ...{ openaiApiKey: 'sk-test', openaiBaseUrl: given.openaiUrl, clock },
    ...{ defaultModel: 'rehearsal', rehearsal: createRehearsalModel({ clock, paceMs: 0 }) },
    ...given.models,
  });
  const images = {
    readBlob: async () => undefined,
    scaleForModel: async () => ({ ok: false as const, message: 'no pictures here' }),
  };
  const delegation =
    given.delegation &&
    new Delegation(given.delegation, { known, registry, models, owners: tokens.owners });
  const offered = delegation?.offering(registry) ?? registry;
  const { subAgent = delegation?.settingsOf } = given;
  const agent = createAgent({
    ...{ calls, registry: offered, clock, images, logger, spans: tracing },
    ...given.agent,
  });
  const runs = new AgentRuns({
    ...{ ...ofRuns, known, calls, agent, models, owners: tokens.owners },
    ...{ clientsReturnMs: 0, offersTools: () => true },
    ...(subAgent && { subAgent }),
  });
  if (delegation) {
    const { resultBytes } = agent;
    const ofRun = { calls, runs, registry: offered, fileText: async () => undefined, resultBytes };
    registry.provide(new OwnTools([...delegation.tools(runs), ...createRunTools(ofRun)]));
  }
  return {
    ...{ known, calls, models, runs, tokens },
    async recover() {
      await calls.recover();
      await runs.recover();
    },
    async close() {
      await runs.close();
      calls.stop();
      await store.close();
    },
    /** By the operator of the first run, if no other is named. */
    async start(input: string, more: Partial<Parameters<typeof runs.start>[0]> = {}) {
      const outcome = await runs.start({ principal: FIRST_OPERATOR, input, ...more });
      if (!outcome.ok) throw new Error(outcome.message);
      return outcome.run.run_id;
    },
  };
}
