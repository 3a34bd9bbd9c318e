import { isRecord } from '#lib/json/is-record';
import { HttpError } from '#lib/protocol/http-error';

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

/** What a tool or a person gave: null says something there. */
const AS_GIVEN = new Set(['arguments', 'inputResponses']);

/** Of the protocol's own fields: more than any client has, and so few that each may be looked at often. */
const MOST_FIELDS = 5_000;

/** Some clients write null where the protocol lets a field out: then it is left out (rule MP60). */
export function withoutNulls(body: unknown): unknown {
  if (!isRecord(body)) return body;
  const { params, ...message } = body;
  return params === undefined || params === null
    ? message
    : { ...message, params: filled(params, { left: MOST_FIELDS }) };
}

function filled(value: unknown, room: { left: number }): unknown {
  if (!isRecord(value)) return value;
  const keys = Object.keys(value);
  room.left -= keys.length;
  if (room.left < 0) {
    const most = `at most ${MOST_FIELDS} fields beside its arguments`;
    throw new HttpError('bad_request', `The message has too many fields; it may have ${most}.`);
  }
  const fields = keys.filter((key) => value[key] !== null);
  return Object.fromEntries(
    fields.map((key) => [key, AS_GIVEN.has(key) ? value[key] : filled(value[key], room)]),
  );
}
