import { HttpError } from '#lib/protocol/http-error';
import { LIMITS } from '#lib/protocol/limits';
import type { RequestContext } from '../route.ts';

/** For the reference. */
export const IDEMPOTENCY_HEADERS = {
  'Idempotency-Key': `1 to ${LIMITS.idempotencyKeyChars} characters: the same key and body give the same call, another body is 422`,
};

/** The key of a request that may be repeated: with the same one and the same request it is the same call. */
export function readIdempotencyKey({ incoming }: RequestContext): string | undefined {
  const key = incoming.headers['idempotency-key'];
  if (typeof key !== 'string') return undefined;
  if (key.length > 0 && key.length <= LIMITS.idempotencyKeyChars) return key;
  throw new HttpError(
    'bad_request',
    `Idempotency-Key has ${key.length} characters; it takes 1 to ${LIMITS.idempotencyKeyChars}.`,
  );
}
