import { SESSION_HEADER } from '../protocol/subprotocols.ts';

export type PageFetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * `fetch` with the key of the sign-in, which has to come with the cookie; only
 * to `origin`, whatever the address. The key is asked for anew each time, since
 * another tab may have signed in meanwhile.
 */
export const createSessionFetch =
  (deps: { fetch: PageFetch; origin: string; readKey: () => string | null }): PageFetch =>
  (url, init) => {
    const key = deps.readKey();
    const isOurs =
      URL.canParse(url, deps.origin) && new URL(url, deps.origin).origin === deps.origin;
    if (key === null || !isOurs) return deps.fetch(url, init);
    const headers = new Headers(init.headers);
    headers.set(SESSION_HEADER, key);
    return deps.fetch(url, { ...init, headers });
  };
