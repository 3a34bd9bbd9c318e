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
