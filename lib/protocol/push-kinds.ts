/** A browser may be sent these. `failures`: calls and runs that failed. */
export const PUSH_KINDS = ['approvals', 'failures'] as const;
export type PushKind = (typeof PUSH_KINDS)[number];
