import { hash } from 'node:crypto';
import { showControlCharacters } from '#lib/format/show-control-characters';
import type { CallNoticeData, Notice } from '#lib/protocol/notice';
import type { PushText } from '#lib/protocol/push';
import type { PushKind } from '#lib/protocol/push-kinds';
import type { PushRecord } from './push-record.ts';

/** A browser is sent this, before it is encrypted. */
export interface PushMessage {
  readonly ttlSeconds: number;
  readonly urgency: 'high' | 'normal';
  /** At most 32 characters of base64url. A newer message takes the place of one that waits. */
  readonly topic: string;
  readonly text: PushText;
}

const TEXTS = {
  en: {
    requested: ['A call waits for your decision', 'Open Callboard to decide.'],
    decided: ['The call waits no more', 'It was decided, or has ended.'],
    failed: ['A call failed', 'Open Callboard to see why.'],
    runFailed: ['A conversation stopped with an error', 'Open Callboard to see why.'],
    ownRequested: [
      'A call for this device waits for a decision',
      'A person at the workbench decides. Open this page, so that the device can answer.',
    ],
    ownDecided: ['The call waits no more', 'It was decided, or has ended.'],
    ownFailed: ['A call for this device failed', 'Open this page to see whether it is connected.'],
    test: ['Notifications work', 'This is the test that you asked for.'],
  },
  zh: {
    requested: ['有一个调用等待您的决定', '打开 Callboard 进行决定。'],
    decided: ['该调用不再等待', '它已被决定，或已结束。'],
    failed: ['一个调用失败了', '打开 Callboard 查看原因。'],
    runFailed: ['一个对话因错误停止', '打开 Callboard 查看原因。'],
    ownRequested: [
      '此设备的一个调用等待决定',
      '由工作台的人员决定。请打开此页面，以便设备能够应答。',
    ],
    ownDecided: ['该调用不再等待', '它已被决定，或已结束。'],
    ownFailed: ['此设备的一个调用失败了', '打开此页面，查看它是否已连接。'],
    test: ['通知功能正常', '这是您请求的测试。'],
  },
} as const;
type TextName = keyof (typeof TEXTS)['en'];

/** A person's answer of no, or a stop, is no failure; an approval that expired had a note before. */
const NO_FAILURES = new Set(['ok', 'denied', 'cancelled', 'approval_expired']);

/** Under which of a person's choices a notice comes; undefined: it is for no browser. */
export function kindOf({ type, data }: Notice): PushKind | undefined {
  if (type === 'approval.requested' || type === 'approval.decided') return 'approvals';
  if (type === 'call.finished') return NO_FAILURES.has(data.outcome) ? undefined : 'failures';
  return type === 'run.finished' && data.status === 'failed' ? 'failures' : undefined;
}

/** Says whether the notice is for this browser: a device gets what is about its own calls. */
export function isFor({ owner, kinds }: PushRecord, notice: Notice): boolean {
  const kind = kindOf(notice);
  if (kind === undefined || !kinds.includes(kind)) return false;
  if (owner.kind === 'person') return true;
  return 'client' in notice.data && notice.data.client?.client_id === owner.clientId;
}

/** How long a note is of use, in seconds, where its call sets no other time. */
const OF_USE_S = { approvals: 10 * 60, failures: 4 * 60 * 60 } as const;

/**
 * The message that this browser is sent, at `nowMs`; undefined: it is too late for it. A notice of
 * no kind is sent as a test. Without `details` the message has nothing of the call but what kind of
 * notice it is.
 */
export function messageOf(
  record: PushRecord,
  notice: Notice,
  nowMs: number,
): PushMessage | undefined {
  const kind = kindOf(notice);
  if (kind === undefined) return testMessage(record, nowMs);
  // One failure is shown at a time: a flood of them is one note.
  const isOne = kind === 'approvals' && 'tool_call_id' in notice.data;
  const topic = topicOf(isOne ? notice.data.tool_call_id : kind);
  const ttlSeconds = Math.floor((endOfUse(notice, kind) - nowMs) / 1_000);
  if (ttlSeconds <= 0) return undefined;
  return {
    ttlSeconds,
    urgency: notice.type === 'approval.requested' ? 'high' : 'normal',
    topic,
    text: {
      v: 1,
      ...wordsOf(record, notice),
      path: record.owner.kind === 'device' ? '/device' : notice.data.link,
      tag: topic,
      quiet: notice.type === 'approval.decided',
      at: notice.at,
    },
  };
}

export function testMessage({ locale, owner }: PushRecord, nowMs: number): PushMessage {
  const [title, body] = TEXTS[locale].test;
  const path = owner.kind === 'device' ? '/device' : '/settings/push';
  const tag = topicOf('test');
  const text = { v: 1, title, body, path, tag, quiet: false, at: nowMs } as const;
  return { ttlSeconds: 60, urgency: 'high', topic: tag, text };
}

/** An id has more characters than a topic may have, so it is hashed. */
const topicOf = (about: string): string => hash('sha256', about, 'base64url').slice(0, 32);

/** In milliseconds since the epoch. */
function endOfUse(notice: Notice, kind: PushKind): number {
  const expiresAt = notice.type === 'approval.requested' ? notice.data.expires_at : null;
  return expiresAt === null ? notice.at + OF_USE_S[kind] * 1_000 : expiresAt * 1_000;
}

function wordsOf(record: PushRecord, notice: Notice): Pick<PushText, 'title' | 'body'> {
  const [title, body] = TEXTS[record.locale][nameOf(record, notice)];
  if (!record.details || !('tool_name' in notice.data)) return { title, body };
  return { title, body: detailsOf(notice.data) };
}

function nameOf({ owner }: PushRecord, { type }: Notice): TextName {
  const isOwn = owner.kind === 'device';
  if (type === 'approval.requested') return isOwn ? 'ownRequested' : 'requested';
  if (type === 'approval.decided') return isOwn ? 'ownDecided' : 'decided';
  if (type === 'run.finished') return 'runFailed';
  return isOwn ? 'ownFailed' : 'failed';
}

const MOST_NAME_CHARS = 80;

/** Names come from clients. */
function detailsOf({ tool_name, client }: CallNoticeData): string {
  const name = client?.name ?? null;
  const parts = [tool_name, ...(name === null ? [] : [name])];
  return parts
    .map((part) => showControlCharacters([...part].slice(0, MOST_NAME_CHARS).join('')))
    .join(' · ');
}
