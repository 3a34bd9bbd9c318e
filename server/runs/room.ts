export { answerAside } from './agent/answer-aside.ts';
export { agentLimits, createAgent } from './agent/create-agent.ts';
export { type ModelSettings, Models } from './agent/models.ts';
export { AgentRuns } from './agent-runs.ts';
export { Delegation } from './delegate/delegation.ts';
export { withoutModel } from './delegate/sub-agents.ts';
export { KnownRuns } from './known-runs.ts';
export type { RunOutcome, RunService } from './run-service.ts';
export { RunTools } from './run-tools/run-tools.ts';
