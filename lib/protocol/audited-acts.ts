/** What is written down of people. */
export const AUDITED_ACTS = [
  'token_created',
  'token_revoked',
  'signed_in',
  'signed_out',
  'approval_decided',
  'answered_by_hand',
  'extended',
  'always_withdrawn',
  'autonomy_set',
  'run_started',
  'run_stopped',
  'message_replaced',
  'tool_called',
  'call_cancelled',
  'call_retried',
] as const;
export type AuditedActName = (typeof AUDITED_ACTS)[number];
