/** The header `Retry-After`, seconds or a date, as milliseconds from `now`, `most` of them; undefined: there is none, or none that makes sense. */
export function readRetryAfter(
  header: string | null,
  { now, most }: { readonly now: number; readonly most: number },
): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), most) : undefined;
}
