import { isRecord } from '#lib/json/is-record';

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

/** Some clients write null where the protocol lets a field out: then it is left out (rule MP60). */
export function withoutNulls(body: unknown): unknown {
  if (!isRecord(body)) return body;
  const { params, ...message } = body;
  return params === undefined || params === null ? message : { ...message, params: filled(params) };
}

function filled(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).filter(([, one]) => one !== null);
  return Object.fromEntries(
    fields.map(([key, one]) => [key, AS_GIVEN.has(key) ? one : filled(one)]),
  );
}
