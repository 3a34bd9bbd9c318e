const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/** A connection that lasted this long resets the count of attempts. */
export const STABLE_MS = 10_000;

/** The longest wait before an attempt, counted from 0: doubles, and stays at `longest`, 30 s (CL1). */
export function reconnectCap(attempt: number, longest = LONGEST_MS): number {
  return doubled(FIRST_MS, attempt, longest);
}

/** A wait that doubles with each attempt, counted from 0, up to the longest. */
export const doubled = (firstMs: number, attempt: number, longestMs: number): number =>
  Math.min(longestMs, firstMs * 2 ** Math.max(0, Math.min(attempt, 16)));

/**
 * Milliseconds to wait before an attempt. Full jitter: anything from nothing up
 * to the cap, so that clients cut off together do not come back together.
 */
// guard: reconnects-spread
export const reconnectDelay = (attempt: number, random: number): number =>
  Math.floor(random * reconnectCap(attempt));

/** Whatever a server writes, nobody puts a request off for longer. */
const LONGEST_ASKED_MS = 7 * 24 * 3_600_000;

/**
 * The header `Retry-After` (RFC 9110, 10.2.3), seconds or a date, as milliseconds from `now`, `most`
 * of them; undefined: there is none, or it is neither.
 */
export function readRetryAfter(
  header: string | null,
  { now = Date.now(), most = LONGEST_ASKED_MS }: { now?: number; most?: number } = {},
): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Math.min(Number(header) * 1_000, most);
  // Without this a negative number would be a date, too.
  const ms = header.endsWith('GMT') ? Date.parse(header) - now : Number.NaN;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), most);
}
