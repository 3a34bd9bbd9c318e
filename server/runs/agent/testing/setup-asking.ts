import { expect, onTestFinished } from 'vitest';
import { type SetupOptions, setupCalls } from '../../../calls/testing/setup-calls.ts';
import { createRehearsalModel } from '../../../rehearsal/rehearsal-model.ts';
import { createScriptedOpenAI } from '../../../testing/scripted-openai.ts';
import type { ScriptedReply } from '../../../testing/scripted-openai-events.ts';
import { AgentRuns } from '../../agent-runs.ts';
import { KnownRuns } from '../../known-runs.ts';
import { createOwnerTokens } from '../../testing/owner-tokens.ts';
import { createAgent } from '../create-agent.ts';
import { Models } from '../models.ts';
import { systemClock } from './fakes.ts';

/** Runs and agent on a real registry and call service; clients are the test's, and a model that says what it wrote down, in order. */
export async function setupAsking(replies: readonly ScriptedReply[], options: SetupOptions = {}) {
  const { dir } = options;
  const server = await setupCalls(options);
  onTestFinished(() => server.close());
  const { calls, registry, store, bus, logger } = server;
  const openai = await createScriptedOpenAI({
    script: ({ index }) => replies[index] ?? { text: 'Done.' },
  });
  onTestFinished(openai.close);
  const images = {
    readBlob: async () => undefined,
    scaleForModel: async () => ({ ok: false as const, message: 'no pictures here' }),
  };
  const agent = createAgent({ calls, registry, clock: systemClock, images, logger });
  const models = new Models({
    openaiApiKey: 'sk-test',
    openaiBaseUrl: openai.url,
    defaultModel: 'openai-chat:gpt-4o',
    rehearsal: createRehearsalModel({ clock: systemClock, paceMs: 0 }),
    clock: systemClock,
  });
  let ids = 0;
  const newId = (prefix: string) => `${prefix}_${dir ? 'b' : 'a'}${++ids}`;
  const clock = systemClock;
  const runs = new AgentRuns({
    known: new KnownRuns({ store, bus, clock, newId, maxSteps: 10, logger }),
    ...{ store, bus, calls, agent, models, clock, newId, logger },
    clientsReturnMs: 0,
    owners: createOwnerTokens().owners,
    offersTools: () => true,
  });
  const end = async () => {
    await runs.close();
    calls.stop();
  };
  onTestFinished(end);
  const ended = (id: string) => expect.poll(async () => (await runs.get(id))?.status).toBe('idle');
  return { ...server, openai, runs, end, ended };
}
