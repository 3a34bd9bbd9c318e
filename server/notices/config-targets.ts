import { createHmac, hash } from 'node:crypto';
import type { Call } from '#lib/call/call';
import { showControlCharacters as shown } from '#lib/format/show-control-characters';
import { cutJson } from '#lib/json/cut-json';
import { fitsJson } from '#lib/json/measure-json';
import { matchTools } from '#lib/policy/match';
import {
  type CallNoticeData,
  NOTICE_TYPES,
  type Notice,
  type NoticeType,
} from '#lib/protocol/notice';
import { given } from '#lib/util/given';
import { type Posted, postOnce } from '../base/post-once.ts';
import { traceparentOf } from '../telemetry/room.ts';
import type {
  NotifySettings,
  NtfySettings,
  TargetSettings,
  WebhookSettings,
} from './notify-config.ts';
import { type Attempt, NO_ANSWER, type Outcome, type Target, type TargetSource } from './target.ts';

/** Its priority is counted as ntfy does: 3 is ordinary, 4 is high. */
interface NoticeText {
  readonly title: string;
  readonly text: string;
  readonly priority: 3 | 4;
  /** A name of an emoji, as ntfy and Slack have it. */
  readonly tag: string;
}

/** A notice as a person reads it, in English. No text of others makes a line of its own. */
function describeNotice({ type, data }: Notice): NoticeText {
  switch (type) {
    case 'approval.requested':
      return {
        title: `Approval needed: ${toolOf(data)}`,
        text: [askedBy(data), data.reason && shown(data.reason)].filter(Boolean).join('\n'),
        priority: 4,
        tag: 'raised_hand',
      };
    case 'approval.decided':
      return {
        title: `${DECISIONS[data.decision]}: ${toolOf(data)}`,
        text: data.decided_by === null ? askedBy(data) : `By ${shown(data.decided_by)}`,
        priority: 3,
        tag: 'ballot_box_with_check',
      };
    case 'call.finished':
      return data.outcome === 'ok'
        ? { ...GOOD, title: `Done: ${toolOf(data)}`, text: askedBy(data) }
        : { ...BAD, title: `Failed: ${toolOf(data)}`, text: `${data.outcome}\n${askedBy(data)}` };
    case 'client.offline':
      return {
        title: `Offline: ${shown(data.name)}`,
        text: `The ${data.kind} has no connection any more.`,
        priority: 3,
        tag: 'electric_plug',
      };
    case 'run.finished':
      return data.error === null
        ? { ...GOOD, title: 'A turn has ended', text: shown(data.title) }
        : { ...BAD, title: 'A turn has failed', text: `${shown(data.title)}\n${data.error}` };
  }
}

const GOOD = { priority: 3, tag: 'white_check_mark' } as const;
const BAD = { priority: 3, tag: 'x' } as const;

const DECISIONS = {
  yes: 'Approved',
  no: 'Denied',
  always: 'Approved for good',
  answer: 'Answered',
  expired: 'Not decided in time',
  ended: 'No decision needed any more',
};

const toolOf = ({ display_name, tool_name, client }: CallNoticeData): string => {
  const name = display_name === null ? tool_name : `${display_name} (${tool_name})`;
  return shown(client === null ? name : `${name} on ${client.name ?? client.client_id}`);
};

const askedBy = ({ requested_by }: CallNoticeData): string => `Asked by ${shown(requested_by)}`;

export interface ConfigTargetsDeps {
  /** Where people reach this workbench. */
  origin(): string;
  /** Finds the call that a notice is about: its trace, and its values for targets that ask for them. */
  call(id: string): Promise<Call | undefined>;
  /** Spans are exported (TM18). */
  readonly isTracing: boolean;
}

/** The targets of the configuration file. */
export function createConfigTargets(
  settings: NotifySettings,
  deps: ConfigTargetsDeps,
): TargetSource {
  const targets = [...settings.targets].map(([name, one]) => toTarget(name, one, deps));
  return { list: () => targets };
}

function toTarget(name: string, settings: TargetSettings, deps: ConfigTargetsDeps): Target {
  return {
    id: `${settings.kind}:${name}`,
    shown: { host: settings.url.host, events: settings.events ?? DEFAULT_EVENTS },
    fingerprint: fingerprintOf(settings),
    wants: createFilter(settings),
    async send({ notice, at, signal }) {
      const { headers, body } = await messageOf(settings, deps, { notice, at });
      return toOutcome(
        await postOnce({
          url: settings.url,
          headers: { 'content-type': 'application/json', 'user-agent': 'Callboard', ...headers },
          body,
          signal,
          now: at,
          longestRetryAfterMs: LONGEST_RETRY_AFTER_MS,
        }),
      );
    },
  };
}

const LONGEST_RETRY_AFTER_MS = 3_600_000;

function toOutcome({ status, failure, code, retryAfterMs }: Posted): Outcome {
  if (failure === undefined) return { kind: 'delivered', status };
  if (status === 410) return { kind: 'gone', status, reason: 'HTTP 410: it wants no more' };
  if (status === null) {
    const how = code === undefined ? 'no connection' : `no connection (${code})`;
    return { kind: 'failed', status, reason: failure === 'timeout' ? NO_ANSWER : how };
  }
  const more = failure === 'redirected' ? ': a redirect, which is not followed' : '';
  return { kind: 'failed', status, reason: `HTTP ${status}${more}`, ...given({ retryAfterMs }) };
}

/** Short: it differs where the address does, and nothing finds the address by it. */
function fingerprintOf(settings: TargetSettings): string {
  const topic = settings.kind === 'ntfy' ? settings.topic : '';
  return hash('sha256', `${settings.url.href} ${topic}`).slice(0, 8);
}

type Written = Pick<Attempt, 'notice' | 'at'>;

interface Message {
  readonly headers: Record<string, string>;
  readonly body: string;
}

async function messageOf(settings: TargetSettings, deps: ConfigTargetsDeps, written: Written) {
  if (settings.kind === 'webhook') return messageForWebhook(settings, deps, written);
  const text = describeNotice(written.notice);
  const link = `${deps.origin()}${written.notice.data.link}`;
  return settings.kind === 'slack'
    ? messageForSlack(text, link)
    : messageForNtfy(settings, text, link);
}

/** The others are many. */
const DEFAULT_EVENTS: readonly NoticeType[] = NOTICE_TYPES.filter(
  (type) => type !== 'call.finished' && type !== 'client.offline',
);

function createFilter({ events: chosen, tools, outcomes }: TargetSettings) {
  const events: readonly NoticeType[] = chosen ?? DEFAULT_EVENTS;
  const isOneOf = tools === undefined ? () => true : matchTools(tools);
  return ({ type, data }: Notice): boolean => {
    if (!events.includes(type)) return false;
    if ('tool_name' in data && !isOneOf(data.tool_name)) return false;
    return !('outcome' in data) || outcomes === undefined || outcomes.includes(data.outcome);
  };
}

/** Arguments and a result have so many each: Standard Webhooks has bodies under 20,000 bytes. */
const VALUE_BYTES = 7_000;

/** Standard Webhooks asks that the id stays; time and so signature are those of the attempt. */
async function messageForWebhook(
  { keys, include }: WebhookSettings,
  { origin, call, isTracing }: ConfigTargetsDeps,
  { notice, at }: Written,
): Promise<Message> {
  const { id, type, data } = notice;
  const record = 'tool_call_id' in data ? await call(data.tool_call_id) : undefined;
  const traceparent = record && traceparentOf(record, isTracing);
  const body = JSON.stringify({
    type,
    timestamp: new Date(notice.at).toISOString(),
    data: { ...data, link: `${origin()}${data.link}`, ...valuesOf(record, include) },
  });
  const seconds = String(Math.floor(at / 1_000));
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': keys.map((key) => sign(key, `${id}.${seconds}.${body}`)).join(' '),
    ...given({ traceparent }),
  };
  return { headers, body };
}

const sign = (key: Buffer, text: string): string =>
  `v1,${createHmac('sha256', key).update(text).digest('base64')}`;

/** The record has no secret in its values. */
function valuesOf(
  call: Call | undefined,
  include: WebhookSettings['include'],
): Record<string, unknown> {
  if (!call) return {};
  const values = { arguments: call.args, ...given({ result: call.result }) };
  const wanted = Object.entries(values).filter(([name]) => include.some((one) => one === name));
  const cut = wanted.filter(([, value]) => !fitsJson(value, VALUE_BYTES)).map(([name]) => name);
  return {
    ...Object.fromEntries(wanted.map(([name, value]) => [name, cutJson(value, VALUE_BYTES)])),
    ...(cut.length === 0 ? {} : { cut }),
  };
}

/** Slack takes texts of its blocks up to these lengths. */
const SLACK_CHARS = { header: 150, section: 3_000 } as const;

function messageForSlack({ title, text, tag }: NoticeText, address: string): Message {
  const link = `<${escapeForSlack(address)}|Open Callboard>`;
  const plain = (words: string, most: number) => ({
    type: 'plain_text',
    text: words.slice(0, most),
    emoji: false,
  });
  const body = JSON.stringify({
    text: [...[title, text].filter(Boolean).map(escapeForSlack), link].join('\n'),
    mrkdwn: false,
    parse: 'none',
    link_names: false,
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'header', text: plain(title, SLACK_CHARS.header) },
      // Slack refuses one without text.
      ...(text === '' ? [] : [{ type: 'section', text: plain(text, SLACK_CHARS.section) }]),
      { type: 'context', elements: [{ type: 'mrkdwn', text: `:${tag}: ${link}`, verbatim: true }] },
    ],
  });
  return { headers: {}, body };
}

/** So that no text of others mentions a channel, or is a link. */
const escapeForSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Without buttons: an action would need a token, which everyone has who reads the topic. */
function messageForNtfy(
  { topic, token }: NtfySettings,
  { title, text, priority, tag }: NoticeText,
  click: string,
): Message {
  const body = JSON.stringify({ topic, title, message: text, priority, tags: [tag], click });
  return { headers: token === undefined ? {} : { authorization: `Bearer ${token}` }, body };
}
