import { onTestFinished } from 'vitest';
import type { MessagePart, NewSettings } from '#lib/protocol/run';
import { createSecrets, type Secrets } from '#lib/text/secrets';
import { FIRST_OPERATOR } from '../../../auth/principal.ts';
import { createRehearsalModel } from '../../../rehearsal/rehearsal-model.ts';
import { createErrorLog } from '../../../testing/error-log.ts';
import { createScriptedOpenAI, fetchFrom, type Script } from '../../../testing/scripted-openai.ts';
import type { ScriptedReply } from '../../../testing/scripted-openai-events.ts';
import { AgentRuns } from '../../agent-runs.ts';
import { KnownRuns } from '../../known-runs.ts';
import type { PriceTable } from '../../runs-config.ts';
import { createOwnerTokens } from '../../testing/owner-tokens.ts';
import { createAgent } from '../create-agent.ts';
import { Models, type ModelsOptions } from '../models.ts';
import type { TurnDeps } from '../turn.ts';
import {
  createFakeBus,
  createFakeCalls,
  createTestStore,
  type FakeCalls,
  type FakeTool,
  systemClock,
  toListing,
} from './fakes.ts';

export interface TurnSetup {
  script: Script;
  model?: string;
  tools?: FakeTool[];
  agent?: Partial<TurnDeps>;
  models?: Partial<ModelsOptions>;
  /** What the server lists, and whether it is down at the start. */
  listed?: readonly (string | { readonly id: string; readonly [fact: string]: unknown })[];
  /** What it shows of each, as Ollama does. */
  shows?: Readonly<Record<string, object>>;
  isDown?: boolean;
  prices?: PriceTable;
  secrets?: Secrets;
  /** A server that ran before on the same store. */
  earlier?: { readonly file: string; readonly calls: FakeCalls };
}

/** Runs and agent on a scripted server over real HTTP, with calls that a test writes down. */
export async function setupTurns(given: TurnSetup) {
  const openai = await createScriptedOpenAI({
    script: given.script,
    ...(given.listed === undefined ? {} : { models: given.listed }),
    ...(given.shows === undefined ? {} : { shows: given.shows }),
  });
  openai.setDown(given.isDown ?? false);
  const tools = given.tools ?? [];
  const calls = given.earlier?.calls ?? createFakeCalls(() => tools);
  const store = createTestStore(given.earlier?.file);
  const bus = createFakeBus();
  const models = new Models({
    openaiApiKey: 'sk-test-key',
    openaiBaseUrl: openai.url,
    defaultModel: given.model ?? 'openai-chat:gpt-4o',
    rehearsal: createRehearsalModel({ clock: systemClock, paceMs: 0 }),
    clock: systemClock,
    fetch: fetchFrom(openai.url),
    ...given.models,
  });
  const { prices } = given;
  const secrets = given.secrets ?? createSecrets();
  const { logger, errors: defects } = createErrorLog();
  const agent = createAgent({
    calls,
    registry: { list: () => tools.map(toListing), find: () => undefined },
    clock: systemClock,
    images: {
      readBlob: async (id) => ({ bytes: new TextEncoder().encode(id) }),
      scaleForModel: async (bytes) => ({ ok: true, bytes, mediaType: 'image/jpeg' }),
    },
    maxRetries: 0,
    logger,
    ...given.agent,
  });
  let ids = 0;
  const newId = (prefix: string) => `${prefix}_${given.earlier ? 'later_' : ''}${++ids}`;
  const clock = systemClock;
  const runs = new AgentRuns({
    known: new KnownRuns({ store, bus, clock, newId, prices, secrets, maxSteps: 10, logger }),
    secrets,
    store,
    calls,
    agent,
    models,
    clock,
    newId,
    owners: createOwnerTokens().owners,
    offersTools: () => true,
    logger,
  });
  onTestFinished(async () => {
    await runs.close();
    await openai.close();
    await store.close();
  });

  const start = async (input: string, more: { tools?: string[]; settings?: NewSettings } = {}) => {
    const outcome = await runs.start({ principal: FIRST_OPERATOR, input, ...more });
    if (!outcome.ok) throw new Error(outcome.message);
    return outcome.run.run_id;
  };
  const ended = async (runId: string) => {
    await bus.until(
      (event) =>
        event.type === 'run' && event.run.run_id === runId && event.run.status !== 'running',
    );
    const run = await runs.get(runId);
    if (!run) throw new Error('the run is gone');
    return run;
  };
  const turn = async (input: string) => ended(await start(input));
  /** The server is stopped, and another one starts on its store: what it has of the run is on disk. */
  const restarted = async (more: Partial<TurnSetup>) => {
    await runs.close();
    await store.close();
    return setupTurns({ ...given, ...more, earlier: { file: store.file, calls } });
  };
  return { openai, models, calls, store, bus, runs, start, ended, turn, restarted, defects };
}

export const texts = (parts: MessagePart[]) =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
export const notices = (parts: MessagePart[]) =>
  parts.flatMap((part) => (part.type === 'notice' ? [part.code] : []));
export const partsOf = (run: { messages: { parts: MessagePart[] }[] }) =>
  run.messages.flatMap((one) => one.parts);

/** Answers in turn; the last one again and again. */
export const inOrder =
  (...replies: ScriptedReply[]): Script =>
  ({ index }) =>
    replies[Math.min(index, replies.length - 1)] ?? {};

export const echo: FakeTool = {
  name: 'demo.echo',
  run: ({ text }) => ({ output: `echo ${text}` }),
};

/** A promise that the test keeps. */
export const gate = () => Promise.withResolvers<void>();

export const MODELS = ['openai-chat:gpt-4o', 'openai:gpt-4o', 'compatible:qwen3:8b'];

export const modelNameOf = (ref: string) => ref.slice(ref.indexOf(':') + 1);

/** The fake of a call whose end only its cancelling brings. */
export const hanging = (started: () => void = () => undefined): FakeTool => ({
  name: 'demo.hang',
  run: () => {
    started();
    return new Promise(() => undefined);
  },
});
