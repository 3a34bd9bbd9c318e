import {
  createScriptedOpenAI,
  type Script,
  type ScriptedOpenAI,
} from '../../server/testing/scripted-openai.ts';
import { test as base } from '../contract/kit/contract-test.ts';
import type { Callboard } from '../start-callboard.ts';
import { configFile } from './config-file.ts';

/** The two APIs of OpenAI, by the reference that chooses a model of each. */
export const MODELS = {
  responses: 'openai:gpt-5-scripted',
  chat: 'openai-chat:scripted',
} as const;

export interface ScriptedBoard {
  readonly board: Callboard;
  readonly openai: ScriptedOpenAI;
  /** The environment of the server, for one that is started anew. */
  readonly env: Readonly<Record<string, string>>;
}

type ScriptedApi = keyof typeof MODELS;
/** A model of another name than the usual one, or a file of configuration. */
type ScriptedOptions = { readonly model?: string; readonly config?: object };

/** A test with a scripted provider of models over real HTTP, and a server that uses it. */
export const test = base.extend<{
  startScripted: (
    api: ScriptedApi,
    script: Script,
    options?: ScriptedOptions,
  ) => Promise<ScriptedBoard>;
}>({
  startScripted: async ({ startServer }, use, testInfo) => {
    const open: ScriptedOpenAI[] = [];
    await use(async (api, script, { model = MODELS[api], config } = {}) => {
      const openai = await createScriptedOpenAI({ script });
      open.push(openai);
      const env = {
        CALLBOARD_MODEL: model,
        OPENAI_BASE_URL: openai.url,
        OPENAI_API_KEY: 'sk-scripted',
        ...(config && { CALLBOARD_CONFIG: await configFile(testInfo, config) }),
      };
      return { board: await startServer({ env }), openai, env };
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
