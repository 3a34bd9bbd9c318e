export { Breaker } from './breaker.ts';
export type { CallService, ClaimRun, DraftCall, RunClaim, ShownCall } from './call-service.ts';
export type { CallsOfClients, ClientAnswer } from './client-calls.ts';
export { createCalls } from './create-call-service.ts';
export { readRecent } from './ended-calls.ts';
export type { ClientInstances } from './instance-changes.ts';
export type { FilteredResult, ResultFilter, ToolResult } from './result-filter.ts';
export type { InstanceFacts } from './router.ts';
export { readToolStats } from './tool-stats.ts';
