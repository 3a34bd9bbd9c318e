import type { CallErrorCode } from './call-status.ts';
import type { RunSummary } from './run.ts';

/** These happen on the board and may be sent to other programs and to devices of people. */
export const NOTICE_TYPES = [
  'approval.requested',
  'approval.decided',
  'call.finished',
  'client.offline',
  'run.finished',
] as const;
export type NoticeType = (typeof NOTICE_TYPES)[number];

export interface NoticeClient {
  readonly client_id: string;
  /** Null: it was not shown on the card. */
  readonly name: string | null;
}

/** Each notice about a call has these. It has no arguments and no result. */
export interface CallNoticeData {
  readonly tool_call_id: string;
  readonly run_id: string;
  readonly tool_name: string;
  readonly display_name: string | null;
  /** `server`, `client`, or the kind of another provider of tools. */
  readonly source: string;
  /** The client that has the call, or the only one that may take it. */
  readonly client: NoticeClient | null;
  /** `operator`, `agent:<name>`, `run:<run id>`. */
  readonly requested_by: string;
  /** Path on this workbench. It opens nothing without signing in. */
  readonly link: string;
}

export interface ApprovalRequestedData extends CallNoticeData {
  /** Why a person is asked; the text of the rule or hook where one asks. */
  readonly reason: string | null;
  /** Unix seconds; null while the clock is stopped. */
  readonly expires_at: number | null;
}

export interface ApprovalDecidedData extends CallNoticeData {
  /** `expired` and `ended`: the call ended, or went on, without the word of a person. */
  readonly decision: 'yes' | 'no' | 'always' | 'answer' | 'expired' | 'ended';
  /** `operator`, `operator:<name>`; null where no person decided. */
  readonly decided_by: string | null;
}

export interface CallFinishedData extends CallNoticeData {
  readonly outcome: 'ok' | CallErrorCode;
  /** It says whether the tool ran; null for `ok`. */
  readonly executed: 'no' | 'yes' | 'unknown' | null;
  readonly duration_ms: number;
}

export interface ClientOfflineData {
  readonly client_id: string;
  readonly name: string;
  readonly kind: 'tab' | 'phone' | 'program';
  /** Unix seconds: when its last connection ended. */
  readonly since: number;
  readonly link: string;
}

export interface RunFinishedData {
  readonly run_id: string;
  readonly title: string;
  readonly status: Exclude<RunSummary['status'], 'running'>;
  /** The code of the error; null without one. */
  readonly error: string | null;
  readonly link: string;
}

interface DataOf {
  readonly 'approval.requested': ApprovalRequestedData;
  readonly 'approval.decided': ApprovalDecidedData;
  readonly 'call.finished': CallFinishedData;
  readonly 'client.offline': ClientOfflineData;
  readonly 'run.finished': RunFinishedData;
}

export type NoticeData = DataOf[NoticeType];

export interface NoticeOf<Type extends NoticeType> {
  /** `evt_…` */
  readonly id: string;
  readonly type: Type;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly data: DataOf[Type];
}

export type Notice = { readonly [Type in NoticeType]: NoticeOf<Type> }[NoticeType];
