import {
  createScriptedOpenAI,
  type Script,
  type ScriptedOpenAI,
} from '../../server/testing/scripted-openai.ts';
import { test as base } from '../contract/kit/contract-test.ts';
import type { Callboard } from '../start-callboard.ts';

/** The two APIs of OpenAI, by the reference that chooses a model of each. */
export const MODELS = {
  responses: 'openai:gpt-5-scripted',
  chat: 'openai-chat:scripted',
} as const;

export interface ScriptedBoard {
  readonly board: Callboard;
  readonly openai: ScriptedOpenAI;
}

/** A test with a scripted provider of models over real HTTP, and a server that uses it. */
export const test = base.extend<{
  startScripted: (api: keyof typeof MODELS, script: Script) => Promise<ScriptedBoard>;
}>({
  startScripted: async ({ startServer }, use) => {
    const open: ScriptedOpenAI[] = [];
    await use(async (api, script) => {
      const openai = await createScriptedOpenAI({ script });
      open.push(openai);
      const board = await startServer({
        env: {
          CALLBOARD_MODEL: MODELS[api],
          OPENAI_BASE_URL: openai.url,
          OPENAI_API_KEY: 'sk-scripted',
        },
      });
      return { board, openai };
    });
    await Promise.all(open.map((one) => one.close()));
  },
});

/** A promise and the way to keep it. */
export function held(): { readonly until: Promise<void>; readonly release: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { until: promise, release: resolve };
}

export { expect } from '../contract/kit/contract-test.ts';
