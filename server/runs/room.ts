export { answerAside } from './agent/answer-aside.ts';
export type { RunService } from './agent-runs.ts';
export { createKnownRuns, createRuns } from './create-runs.ts';
export { withoutModel } from './delegate/sub-agents.ts';
export type { RunOutcome } from './run-requests.ts';
export { readAgents, readModels, runsConfigShape } from './runs-config.ts';
