import type { CallErrorCode } from './call-status.ts';

const BY_DECISION: ReadonlySet<string> = new Set<CallErrorCode>([
  'denied',
  'cancelled',
  'approval_expired',
]);

/** True when a call ended by a decision, or for want of one: that is no failure of its tool. */
export const isDecided = (code: string | null): boolean => code !== null && BY_DECISION.has(code);
