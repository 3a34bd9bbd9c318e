import type { ApprovalListing } from '../protocol/watch-messages.ts';

/** The same for calls that one decision decides. */
export const keyOf = (one: ApprovalListing): string => one.key ?? one.tool_call_id;

/** One decision decides several calls: the one that was asked about first stands for them. Pure. */
export function questionsOf(approvals: readonly ApprovalListing[]): ApprovalListing[] {
  const seen = new Set<string>();
  return approvals.filter((one) => seen.size < seen.add(keyOf(one)).size);
}
