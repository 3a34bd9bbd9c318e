/**
 * The header `Retry-After` (RFC 9110, 10.2.3), seconds or a date, as milliseconds from `now`, `most`
 * of them; undefined: there is none, or it is neither.
 */
export function readRetryAfter(
  header: string | null,
  { now, most }: { readonly now: number; readonly most: number },
): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Math.min(Number(header) * 1_000, most);
  // Without this a negative number would be a date, too.
  const ms = header.endsWith('GMT') ? Date.parse(header) - now : Number.NaN;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), most);
}
