export { answerAside } from './agent/answer-aside.ts';
export { createKnownRuns, createRuns } from './create-runs.ts';
export { withoutModel } from './delegate/sub-agents.ts';
export type { RunOutcome, RunService } from './run-service.ts';
export { readAgents, readModels, runsConfigShape } from './runs-config.ts';
