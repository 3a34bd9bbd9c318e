export type { AlwaysAllowed, AlwaysRule, RuleUse } from './always-allowed.ts';
export {
  type Approvals,
  type ApprovalsDeps,
  approvalsConfigSchema,
  createApprovals,
} from './approvals.ts';
export { type CallersOfCalls, callerOfCall } from './caller-of-call.ts';
export type {
  BeforeOutcome,
  Check,
  CheckEdit,
  CheckRequest,
  CheckVerdict,
  Denial,
  DenialRequest,
  ToolFacts,
} from './check.ts';
export type { DecidedCalls, Decision } from './decisions.ts';
export { type Decided, scopeOf, shownClient } from './questions.ts';
