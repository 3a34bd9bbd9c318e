import { APICallError } from 'ai';

/** Short, as a person is waiting: longer troubles become a notice. */
const BACKOFF_MS = [500, 2_000];
const LONGEST_WAIT_MS = 5_000;

/**
 * Milliseconds to wait before a model is asked again, after `failures` failed
 * requests; undefined when asking again is no use. Only limits (429) and
 * failures of the provider (5xx) pass by themselves.
 */
export function retryDelay(
  error: unknown,
  failures: number,
  maxRetries: number,
): number | undefined {
  if (failures > maxRetries || !APICallError.isInstance(error)) return undefined;
  const status = error.statusCode ?? 0;
  if (status !== 429 && status < 500) return undefined;
  if (/insufficient_quota/.test(error.responseBody ?? '')) return undefined;
  const asked = Number(error.responseHeaders?.['retry-after'] ?? Number.NaN) * 1000;
  if (asked > LONGEST_WAIT_MS) return undefined;
  const backoff = BACKOFF_MS[Math.min(failures, BACKOFF_MS.length) - 1] ?? LONGEST_WAIT_MS;
  return Number.isNaN(asked) ? backoff : Math.max(asked, 0);
}
