import { MODEL_OUTPUT_BYTES } from '#lib/call/model-output';
import { matchTools } from '#lib/policy/match';
import type { RunTool } from '#lib/protocol/run-tools';
import type { AgentSettings } from '../runs-config.ts';
import type { ToolsRequest, TurnEnd, TurnRequest } from './agent.ts';
import { Lessons } from './lessons.ts';
import { runTurn } from './run-turn.ts';
import { NO_BUDGET } from './spending.ts';
import { chooseForStep } from './tools.ts';
import { readCalls, type TurnDeps } from './turn.ts';

const NO_SPANS = { isOn: false, add() {} };

/** A turn has so many where none are given. */
const MAX_STEPS = 10;

const usual = () => ({
  maxSteps: MAX_STEPS,
  maxRetries: 2,
  budget: NO_BUDGET,
  resultBytes: MODEL_OUTPUT_BYTES,
  isPinned: () => false,
  isPolling: () => false,
  denialOf: () => undefined,
  spans: NO_SPANS,
  lessons: new Lessons(),
  settings: {},
});

type Optional = keyof ReturnType<typeof usual>;

export const agentLimits = ({
  budget,
  max_steps,
  polling,
  result_bytes,
  pinned_tools,
  ...asked
}: AgentSettings) => ({
  budget,
  maxSteps: max_steps,
  resultBytes: result_bytes,
  isPolling: matchTools(polling),
  isPinned: matchTools(pinned_tools),
  settings: asked,
});

export type Agent = ReturnType<typeof createAgent>;

/**
 * The built-in agent, with its usual limits where none are given: it asks a model, runs what that
 * calls, until it answers. It has no sockets.
 */
export function createAgent(options: Omit<TurnDeps, Optional> & Partial<Pick<TurnDeps, Optional>>) {
  const deps: TurnDeps = { ...usual(), ...options };
  const { maxSteps, budget, resultBytes } = deps;
  return {
    maxSteps,
    budget,
    resultBytes,
    /** Ends with a value whatever the model does; rejects only when nothing can be written down. */
    runTurn: (request: TurnRequest): Promise<TurnEnd> => runTurn(deps, request),
    /** Tells of every tool, by name, whether the next step offers it, or why not. */
    async toolStates(request: ToolsRequest): Promise<readonly RunTool[]> {
      const turn = { ...request, deps, finals: new Map(), outputs: new WeakMap() };
      return chooseForStep(turn, await readCalls(turn)).states;
    },
  };
}
