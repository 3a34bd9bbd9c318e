import { isRecord } from '../json/is-record.ts';
import type { ServerMessage } from '../protocol/server-messages.ts';
import { PROTOCOL } from '../protocol/subprotocols.ts';

/**
 * A frame as a message; undefined for what this client does not know (CL14). A test holds each
 * shape to its schema in `protocol/server-messages.ts`, which is too large for a page's first load.
 */
export function parseServerMessage(data: unknown): ServerMessage | undefined {
  if (typeof data !== 'string') return undefined;
  let json: unknown;
  try {
    json = JSON.parse(data);
  } catch {
    return undefined; // Not JSON: nothing that a later protocol would send either.
  }
  return isServerMessage(json) ? json : undefined;
}

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === 'string';
const number: Check = (value) => typeof value === 'number' && Number.isFinite(value);
const yesOrNo: Check = (value) => typeof value === 'boolean';
const oneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const record =
  (check: Check): Check =>
  (value) =>
    isRecord(value) && Object.values(value).every(check);
const shape =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isRecord(value) && Object.entries(fields).every(([name, check]) => check(value[name]));

const REJECTIONS = [
  'unknown_call',
  'not_your_call',
  'stale_attempt',
  'not_granted',
  'conflict',
  'result_invalid',
  'result_too_large',
];

const SHAPES: Readonly<Record<ServerMessage['type'], Check>> = {
  welcome: shape({
    client_id: text,
    resume_token: text,
    resumed: yesOrNo,
    heartbeat_ms: number,
    limits: record(number),
    forget: listOf(text),
    cancel: listOf(text),
    protocol: oneOf(PROTOCOL),
  }),
  tools_registered: shape({
    count: number,
    registered: number,
    rejected: listOf(shape({ name: text, code: text, message: text })),
  }),
  tool_call_request: shape({
    id: text,
    name: text,
    args: record(() => true),
    run_id: text,
    attempt: number,
    timeout_ms: number,
  }),
  tool_call_granted: shape({ id: text, attempt: number, remaining_ms: number }),
  tool_call_refused: shape({ id: text, attempt: number, reason: text }),
  tool_call_cancel: shape({ id: text, reason: text }),
  result_acknowledged: shape({ id: text, disposition: oneOf('accepted', 'duplicate', 'late') }),
  result_rejected: shape({
    id: text,
    code: oneOf(...REJECTIONS),
    message: text,
    final: oneOf(true),
  }),
  probe: shape({ nonce: text }),
  probe_ack: shape({ nonce: text }),
  error: shape({ code: text, message: text, id: optional(text) }),
};

const checks = new Map<unknown, Check>(Object.entries(SHAPES));

const isServerMessage = (value: unknown): value is ServerMessage =>
  isRecord(value) && (checks.get(value.type)?.(value) ?? false);
