import { describe, expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { HttpError } from '#lib/protocol/http-error';
import { type CredentialRequest, createCredentials } from './credentials.ts';
import { createFailedAttempts } from './failed-attempts.ts';
import { FIRST_OPERATOR } from './principal.ts';

const TOKEN = 'the-right-token';
const OPERATOR = FIRST_OPERATOR;
const SESSION = { id: 'session-1', tokenId: null };
const SIGNED_IN = { ...FIRST_OPERATOR, sessionId: 'session-1' };
const cookie = 'callboard_session_0=good';
const origin = 'http://localhost:3000';
const key = { 'x-callboard-session': 'its-key' };
const offered = { 'sec-websocket-protocol': 'callboard.v1, session.its-key' };

describe('bearer', () => {
  test.each([`Bearer ${TOKEN}`, `bearer  ${TOKEN}`])(
    '[AU13] %o names the caller',
    async (authorization) => {
      expect(await ask({ headers: { authorization } })).toEqual(OPERATOR);
    },
  );

  test.each(['Bearer wrong', 'Bearer', 'Bearer ', TOKEN, `Basic ${TOKEN}`, `Bearer ${TOKEN} x`])(
    '[AU13] %o is refused, cookie or not',
    async (authorization) => {
      expect(await ask({ headers: { authorization, cookie, ...key } })).toBe('unauthenticated');
    },
  );

  test('[AU14] a subprotocol counts on a socket', async () => {
    const headers = { 'sec-websocket-protocol': `callboard.v1, bearer.${TOKEN}` };
    expect(await ask({ headers, at: 'socket' })).toEqual(OPERATOR);
    expect(await ask({ headers })).toBe('unauthenticated');
    expect(await ask({ headers, at: 'page' })).toBe('unauthenticated');
  });

  test.each(['wrong', '', '%zz', '%E0%A4%A'])(
    '[AU14] the wrong subprotocol bearer.%s is refused, with cookie and key',
    async (token) => {
      const headers = {
        cookie,
        origin,
        'sec-websocket-protocol': `callboard.v1, bearer.${token}, session.its-key`,
      };
      expect(await ask({ headers, at: 'socket' })).toBe('unauthenticated');
    },
  );
});

describe('cookie', () => {
  test.each([undefined, 'same-origin', 'none'])(
    '[AU15] a GET with Sec-Fetch-Site %o',
    async (site) => {
      expect(await ask({ headers: { cookie, ...key, ...fetchSite(site) } })).toEqual(SIGNED_IN);
    },
  );

  test.each(['cross-site', 'same-site', 'nonsense'])(
    '[AU15] T09: not a GET with Sec-Fetch-Site %o',
    async (site) => {
      expect(await ask({ headers: { cookie, ...key, ...fetchSite(site) } })).toBe(
        'origin_not_allowed',
      );
    },
  );

  test('[AU15] a POST with our Origin, or from our own page', async () => {
    expect(await ask({ method: 'POST', headers: { cookie, ...key, origin } })).toEqual(SIGNED_IN);
    const headers = { cookie, ...key, ...fetchSite('same-origin') };
    expect(await ask({ method: 'POST', headers })).toEqual(SIGNED_IN);
  });

  test.each([undefined, 'none', 'same-site', 'cross-site'])(
    '[AU15] T09: not a POST with Sec-Fetch-Site %o and no Origin',
    async (site) => {
      const headers = { cookie, ...key, ...fetchSite(site) };
      expect(await ask({ method: 'POST', headers })).toBe('origin_not_allowed');
    },
  );

  test('[AU16] on a socket only with our Origin', async () => {
    const at = 'socket';
    expect(await ask({ at, headers: { cookie, ...offered, origin } })).toEqual(SIGNED_IN);
    expect(await ask({ at, headers: { cookie, ...offered } })).toBe('origin_not_allowed');
    const own = { cookie, ...offered, ...fetchSite('same-origin') };
    expect(await ask({ at, headers: own })).toBe('origin_not_allowed');
  });

  test('[AU21] without its key it opens nothing, with any other header beside it', async () => {
    for (const method of ['GET', 'POST']) {
      for (const more of [{}, offered, { 'x-callboard-session': '' }, fetchSite('same-origin')]) {
        const headers = { cookie, origin, ...more };
        expect(await ask({ method, headers })).toBe('unauthenticated');
      }
    }
    for (const more of [{}, key, { 'sec-websocket-protocol': 'callboard.v1, session.' }]) {
      const headers = { cookie, origin, ...more };
      expect(await ask({ at: 'socket', headers })).toBe('unauthenticated');
    }
    expect(await ask({ method: 'POST', headers: { cookie } })).toBe('unauthenticated');
    const wrong = { cookie, origin, 'x-callboard-session': 'another-key' };
    expect(await ask({ headers: wrong })).toBe('unauthenticated');
    expect(await ask({ headers: { origin, ...key } })).toBe('unauthenticated');
  });

  test('[AU17] a link from elsewhere opens a page', async () => {
    const link = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    const headers = { cookie, ...fetchSite('cross-site'), ...link };
    expect(await ask({ headers, at: 'page' })).toEqual(SIGNED_IN);
    expect(await ask({ headers, at: 'page', method: 'POST' })).toBe('origin_not_allowed');
    const embedded = { ...headers, 'sec-fetch-dest': 'iframe' };
    expect(await ask({ headers: embedded, at: 'page' })).toBe('origin_not_allowed');
    expect(await ask({ headers: { ...headers, ...key } })).toBe('origin_not_allowed');
  });

  test('[AU17] to a page our own scripts send no key', async () => {
    const headers = { cookie, ...fetchSite('same-origin') };
    expect(await ask({ headers, at: 'page' })).toEqual(SIGNED_IN);
  });

  test('[AU15] an unknown session is refused', async () => {
    const headers = { cookie: 'callboard_session_0=old', ...key };
    expect(await ask({ headers })).toBe('unauthenticated');
  });
});

describe('guessing', () => {
  test('[AU19] nothing, or an old cookie, is not a guess', async () => {
    const { credentials } = setup();
    for (let n = 0; n < 10; n++) {
      const headers = n % 2 ? {} : { cookie: 'callboard_session_0=old', ...key };
      expect(await credentials.authenticate(request({ headers }))).toMatchObject({ status: 401 });
    }
  });
});

const fetchSite = (site: string | undefined) => (site ? { 'sec-fetch-site': site } : {});

const request = (more: Partial<CredentialRequest>): CredentialRequest => ({
  headers: {},
  method: 'GET',
  address: '127.0.0.1',
  ...more,
});

/** The principal, or the code of the refusal. */
async function ask(more: Partial<CredentialRequest>) {
  const answer = await setup().credentials.authenticate(request(more));
  return answer instanceof HttpError ? answer.code : answer;
}

function setup(isRight = (token: string): boolean => token === TOKEN) {
  const credentials = createCredentials({
    tokens: {
      find: (token) => (isRight(token) ? FIRST_OPERATOR : undefined),
      callerOf: (id) => (id === null ? FIRST_OPERATOR : undefined),
    },
    sessions: {
      find: async (header, key) =>
        header?.includes('=good') && key === 'its-key' ? SESSION : undefined,
      isLive: () => false,
      findByCookie: async (header) => (header?.includes('=good') ? SESSION : undefined),
    },
    failedAttempts: createFailedAttempts(createManualClock(), { count: 3, maxHeld: 0 }),
  });
  return { credentials };
}
