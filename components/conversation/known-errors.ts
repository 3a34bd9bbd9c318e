/** Codes for which `errors.whatToDo` has words. */
const KNOWN = [
  'no_api_key',
  'model_unauthenticated',
  'model_quota',
  'model_rate_limited',
  'model_unreachable',
  'model_unavailable',
  'model_not_found',
  'model_silent',
  'model_failed',
  'model_refused_request',
  'context_too_long',
  'stream_cut',
  'rate_limited',
  'unreachable',
  'unauthenticated',
  'conflict',
  'shutting_down',
  'store_failed',
  'interrupted',
  'restarted',
  'run_not_found',
] as const;

export type KnownError = (typeof KNOWN)[number];

/** What this screen says itself; every other message is the server's, and tells what to do. */
const OURS: readonly KnownError[] = ['unreachable', 'run_not_found'];

/**
 * The code whose advice is to be shown beside a message, if any. The server's
 * messages are English and say what to do already: there, saying it again in
 * English would only be noise.
 */
export function adviceFor(code: string, locale: string): KnownError | undefined {
  const known = KNOWN.find((one) => one === code);
  if (known === undefined) return undefined;
  return locale.startsWith('en') && !OURS.includes(known) ? undefined : known;
}
