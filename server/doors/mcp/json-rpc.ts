import { LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/server';
import { isRecord } from '#lib/json/is-record';
import { parseJson } from '#lib/json/parse-json';
import { HttpError } from '#lib/protocol/http-error';
import { LIMITS } from '#lib/protocol/limits';
import type { McpPost } from './agent-session.ts';

type RequestId = string | number;

const asId = (value: unknown): RequestId | undefined =>
  typeof value === 'string' || typeof value === 'number' ? value : undefined;

export const isInitialize = (body: unknown): boolean =>
  isRecord(body) && body.method === 'initialize';

/** The request that the message asks to cancel. */
export function cancelledRequest(body: unknown): RequestId | undefined {
  if (!isRecord(body) || body.method !== 'notifications/cancelled') return undefined;
  return isRecord(body.params) ? asId(body.params.requestId) : undefined;
}

/** A tool or a person gave these: null says something there. */
const AS_GIVEN = new Set(['arguments', 'inputResponses']);

/** The protocol's own fields are fewer with any client, and so few may be looked at often. */
const MOST_FIELDS = 5_000;

/** Some clients write null where the protocol lets a field out: then it is left out (rule MP60). */
export function withoutNulls(body: unknown): unknown {
  if (!isRecord(body)) return body;
  const room = { left: MOST_FIELDS };
  countFields(body, room);
  const { params, id, ...more } = body;
  // To a notification no answer is sent, so that null is no id of one.
  const isNote = id === null && String(more.method).startsWith('notifications/');
  const message = isNote || id === undefined ? more : { ...more, id };
  const given = filled(params ?? undefined, room);
  if (isInitialize(body)) return { ...message, params: asInitialize(given) };
  return given === undefined ? message : { ...message, params: given };
}

/** No answer depends on these fields: they are made up where a client leaves them out, or has another form. */
function asInitialize(params: unknown): Record<string, unknown> {
  const { clientInfo, capabilities, ...more } = isRecord(params) ? params : {};
  const { name = 'unknown', version = '0', ...info } = isRecord(clientInfo) ? clientInfo : {};
  const parts = Object.entries(isRecord(capabilities) ? capabilities : {});
  return {
    protocolVersion: LATEST_PROTOCOL_VERSION,
    ...more,
    capabilities: Object.fromEntries(parts.filter(([, value]) => isRecord(value))),
    clientInfo: { ...info, name: String(name), version: String(version) },
  };
}

/** Some clients write the arguments as a text. */
function asArguments(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const parsed = parseJson(value.trim() || '{}', ARGUMENTS);
  return parsed.ok && isRecord(parsed.value) ? parsed.value : value;
}

const ARGUMENTS = { maxDepth: LIMITS.jsonDepth, maxNodes: LIMITS.jsonNodes };

function filled(value: unknown, room: { left: number }): unknown {
  if (!isRecord(value)) return value;
  const fields = countFields(value, room).filter((key) => value[key] !== null);
  return Object.fromEntries(
    fields.map((key) => [
      key,
      AS_GIVEN.has(key) ? asArguments(value[key]) : filled(value[key], room),
    ]),
  );
}

/** The library would look at each of them. */
function countFields(value: object, room: { left: number }): string[] {
  const keys = Object.keys(value);
  room.left -= keys.length;
  if (room.left >= 0) return keys;
  const most = `at most ${MOST_FIELDS} fields beside its arguments`;
  throw new HttpError('bad_request', `The message has too many fields; it may have ${most}.`);
}

/** For the library: without a body, which was read, by a name of our own, since the host was checked before. */
export function toRequest({ headers, signal }: Pick<McpPost, 'headers' | 'signal'>): Request {
  const request = new Request('http://callboard/mcp', { method: 'POST' });
  for (const [name, value] of Object.entries(headers)) {
    // Credentials were read.
    if (name === 'authorization' || name === 'cookie') continue;
    if (typeof value === 'string') request.headers.set(name, value);
  }
  // The library refuses who takes one form alone; which one is sent is decided behind it.
  request.headers.set('accept', 'application/json, text/event-stream');
  // One that is made with a signal outlives its answer until all garbage is collected.
  return Object.defineProperty(request, 'signal', { value: signal });
}
