const YEAR_S = 365 * 24 * 3_600;

/**
 * Remembers a choice of looks where the server reads it, so that it draws the
 * next page in it right away. `jar` is the document; the newer cookie store is
 * missing where a page is not a secure context, as on a phone over plain HTTP.
 */
export function savePreference(jar: { cookie: string }, name: string, value: string): void {
  jar.cookie = `${name}=${encodeURIComponent(value)}; path=/; max-age=${YEAR_S}; samesite=lax`;
}
