import type { Call } from '#lib/call/call';
import { pathOfCall } from '#lib/call/call-address';
import { cutToBytes } from '#lib/json/cut-to-bytes';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type {
  ApprovalDecidedData,
  CallNoticeData,
  ClientOfflineData,
  NoticeOf,
  NoticeType,
} from '#lib/protocol/notice';
import type { RunSummary } from '#lib/protocol/run';
import type { Change } from '../store/room.ts';

/** A notice before it has an id. */
export type NoticeDraft = {
  readonly [Type in NoticeType]: Pick<NoticeOf<Type>, 'type' | 'data'>;
}[NoticeType];

/** Each text in a notice has at most so much: names and reasons of others may be long. */
const TEXT_BYTES = 512;

const cut = (text: string): string => cutToBytes(text, TEXT_BYTES);

/** Says what one decision about a call means to those outside (OB1). */
export function draftsOfCall(call: Call, previous: Call | undefined): NoticeDraft[] {
  const drafts: NoticeDraft[] = [];
  const wasAsked = previous?.phase === 'approval';
  if (call.phase === 'approval' && !wasAsked) {
    const { approval_reason: reason, clock } = call.card;
    const expires_at = clock?.name === 'approval' ? clock.deadline_at : null;
    const asked = { reason: reason ? cut(reason) : null, expires_at };
    drafts.push({ type: 'approval.requested', data: { ...dataOf(call), ...asked } });
  }
  if (wasAsked && call.phase !== 'approval') {
    drafts.push({
      type: 'approval.decided',
      data: { ...dataOf(call), ...decisionOf(call, previous) },
    });
  }
  if (isFinalStatus(call.status) && !(previous && isFinalStatus(previous.status))) {
    drafts.push({
      type: 'call.finished',
      data: {
        ...dataOf(call),
        outcome: call.error?.code ?? 'ok',
        executed: call.error?.executed ?? null,
        duration_ms: Math.max(0, (call.completedAt ?? call.createdAt) - call.createdAt),
      },
    });
  }
  return drafts;
}

function dataOf(call: Call): CallNoticeData {
  const { display_name, client_name } = call.card;
  const clientId = call.provider?.clientId ?? call.wantedClientId;
  const name = client_name ? cut(client_name) : null;
  return {
    tool_call_id: call.id,
    run_id: cut(call.runId),
    tool_name: call.toolName,
    display_name: display_name ? cut(display_name) : null,
    source: call.source,
    client: clientId === null ? null : { client_id: cut(clientId), name },
    requested_by: cut(call.requestedBy),
    link: pathOfCall(call.id),
  };
}

function decisionOf(
  call: Call,
  previous: Call,
): Pick<ApprovalDecidedData, 'decision' | 'decided_by'> {
  const { approval_decision: decided } = call.card;
  if (decided && decided !== previous.card.approval_decision) {
    return { decision: decided.decision, decided_by: cut(decided.by) };
  }
  const isExpired = call.error?.code === 'approval_expired';
  return { decision: isExpired ? 'expired' : 'ended', decided_by: null };
}

/** A turn has ended. Those of sub-agents are parts of the turn that they work for. */
export function draftsOfRun(run: RunSummary, previous: RunSummary): NoticeDraft[] {
  const { status, parent, run_id, title, error } = run;
  if (previous.status !== 'running' || status === 'running' || parent) return [];
  const link = `/?run=${encodeURIComponent(run_id)}`;
  const data = { run_id: cut(run_id), title: cut(title), status, error: error?.code ?? null, link };
  return [{ type: 'run.finished', data }];
}

export const draftOfAbsence = (client: Omit<ClientOfflineData, 'link'>): NoticeDraft => ({
  type: 'client.offline',
  data: { ...client, client_id: cut(client.client_id), name: cut(client.name), link: '/devices' },
});

/** A person sends this to see that a target works. */
export const TEST_DRAFT: NoticeDraft = {
  type: 'run.finished',
  data: {
    run_id: 'run_test',
    title: 'Test of notifications',
    status: 'idle',
    error: null,
    link: '/settings/deliveries',
  },
};

/** It goes into the same write as the change that it reports. */
export interface Announcement {
  readonly changes: readonly Change[];
  /** They are on disk. Not called where the write is rejected. */
  written(): void;
}

/** Undefined where no target wants to know of the change. */
export type AnnounceCall = (call: Call, previous: Call | undefined) => Announcement | undefined;

/** The same of a run. */
export type AnnounceRun = (run: RunSummary, previous: RunSummary) => Announcement | undefined;
