import type { TestInfo } from '@playwright/test';
import { test as base } from '../contract/kit/contract-test.ts';
import { type ClientOptions, spec, type ToolClient } from '../contract/kit/tool-client.ts';
import type { Callboard, StartOptions } from '../start-callboard.ts';
import { configFile } from './config-file.ts';
import { ASKING_POLICY } from './every-look.ts';

/** The tool before which the policy asks. */
const GATE = spec('gate.open', {
  parameters: {
    type: 'object',
    properties: { gate: { type: 'number' }, hurry: { type: 'boolean' } },
  },
});

/** The options of a server whose policy asks a person before each call of `gate.open`. */
export const askingOptions = async (testInfo: TestInfo) =>
  ({
    env: { CALLBOARD_CONFIG: await configFile(testInfo, ASKING_POLICY) },
  }) satisfies StartOptions;

export interface AskingBoard {
  readonly board: Callboard;
  /** Offers the tools. */
  readonly program: ToolClient;
}

/** A test with a server that asks, and a program that offers `gate.open`, or the tools that are named. */
export const test = base.extend<{
  startAsking: (tools?: NonNullable<ClientOptions['tools']>) => Promise<AskingBoard>;
}>({
  startAsking: async ({ startServer, connect }, use, testInfo) => {
    await use(async (tools = [GATE]) => {
      const board = await startServer(await askingOptions(testInfo));
      return { board, program: await connect.client(board, { tools }) };
    });
  },
});

export { expect } from '../contract/kit/contract-test.ts';
