import { toCardStatus } from '../protocol/call-status.ts';
import type { Card } from '../protocol/card.ts';
import type { Call, CallHead, Drafting } from './call.ts';
import { NO_DEADLINES } from './clocks.ts';
import { boundCard } from './merge-card.ts';

/** The name of a program with a token of its own begins so. */
const AGENT = 'agent:';

/** The call whose sub-agent makes another, and how many calls then stand above that one. */
export interface CallParent {
  readonly callId: string;
  readonly depth: number;
}

export type NewCall = Pick<
  CallHead,
  | 'id'
  | 'runId'
  | 'toolName'
  | 'source'
  | 'toolProvider'
  | 'trusted'
  | 'args'
  | 'annotations'
  | 'timeoutMs'
  | 'routing'
  | 'wantedClientId'
  | 'retryOf'
  | 'requestedBy'
  | 'ownerToken'
  | 'traceparent'
  | 'modelCallId'
> & {
  readonly displayName: string | null;
  readonly shown?: Partial<Card>;
  readonly parent?: CallParent | undefined;
};

/** A call before its first event: its arguments are still to come, or to be accepted. */
export function newCall({ displayName, shown, parent, ...given }: NewCall, now: number): Call {
  const record = {
    ...BARE_CALL,
    ...given,
    createdAt: now,
    parentCallId: parent?.callId ?? null,
    depth: parent?.depth ?? 0,
  };
  return { ...record, card: { ...firstCard(record, displayName), ...shown } };
}

/** The fields of a call before anything is known of it. */
export const BARE_CALL = {
  status: 'PENDING',
  phase: 'streaming',
  attachments: [],
  wantedClientId: null,
  retryOf: null,
  ownerToken: null,
  granted: false,
  deadlines: NO_DEADLINES,
  clockMark: null,
  version: 0,
  parentCallId: null,
  depth: 0,
} as const satisfies Partial<Drafting>;

/** People are shown this of a call that has begun. */
export const firstCard = (
  record: Omit<CallHead, 'card'> & Pick<Call, 'status' | 'phase'>,
  displayName: string | null,
): Card => ({
  status: toCardStatus(record.status),
  phase: record.phase,
  ...boundCard({ params: { ...record.args } }),
  tool_name: record.toolName,
  display_name: displayName,
  source: record.source,
  attempt: 0,
  timeout_ms: record.timeoutMs,
  created_at: record.createdAt / 1000,
  ...(record.retryOf === null ? {} : { retry_of: record.retryOf }),
  ...(record.parentCallId === null ? {} : { parent_call_id: record.parentCallId }),
  ...(record.modelCallId === undefined ? {} : { model_call_id: record.modelCallId }),
  ...(record.requestedBy.startsWith(AGENT) ? { requested_by: record.requestedBy } : {}),
});
