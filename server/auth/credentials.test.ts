import { describe, expect, test } from 'vitest';
import { HttpError } from '#lib/protocol/http-error';
import { type CredentialRequest, createCredentials } from './credentials.ts';
import { createFailedAttempts } from './failed-attempts.ts';

const TOKEN = 'the-right-token';
const OPERATOR = { kind: 'operator', sessionId: null };
const SIGNED_IN = { kind: 'operator', sessionId: 'session-1' };
const cookie = 'callboard_session=good';
const origin = 'http://localhost:3000';

describe('bearer', () => {
  test.each([`Bearer ${TOKEN}`, `bearer  ${TOKEN}`])(
    '[AU13] %o says who asks',
    async (authorization) => {
      expect(await ask({ headers: { authorization } })).toEqual(OPERATOR);
    },
  );

  test.each(['Bearer wrong', 'Bearer', 'Bearer ', TOKEN, `Basic ${TOKEN}`, `Bearer ${TOKEN} x`])(
    '[AU13] %o is refused, cookie or not',
    async (authorization) => {
      expect(await ask({ headers: { authorization, cookie } })).toBe('unauthenticated');
    },
  );

  test('[AU14] a subprotocol counts on a socket', async () => {
    const headers = { 'sec-websocket-protocol': `callboard.v1, bearer.${TOKEN}` };
    expect(await ask({ headers, socket: true })).toEqual(OPERATOR);
    expect(await ask({ headers })).toBe('unauthenticated');
  });

  test('[AU14] a wrong subprotocol is refused', async () => {
    const headers = { 'sec-websocket-protocol': 'callboard.v1, bearer.wrong' };
    expect(await ask({ headers, socket: true })).toBe('unauthenticated');
  });
});

describe('cookie', () => {
  test.each([undefined, 'same-origin', 'none'])(
    '[AU15] a GET with Sec-Fetch-Site %o',
    async (site) => {
      expect(await ask({ headers: { cookie, ...fetchSite(site) } })).toEqual(SIGNED_IN);
    },
  );

  test.each(['cross-site', 'same-site', 'nonsense'])(
    '[AU15] not a GET with Sec-Fetch-Site %o',
    async (site) => {
      expect(await ask({ headers: { cookie, ...fetchSite(site) } })).toBe('origin_not_allowed');
    },
  );

  test('[AU15] a POST with our Origin, or from our own page', async () => {
    expect(await ask({ method: 'POST', headers: { cookie, origin } })).toEqual(SIGNED_IN);
    const headers = { cookie, ...fetchSite('same-origin') };
    expect(await ask({ method: 'POST', headers })).toEqual(SIGNED_IN);
  });

  test.each([undefined, 'none', 'same-site', 'cross-site'])(
    '[AU15] not a POST with Sec-Fetch-Site %o and no Origin',
    async (site) => {
      const headers = { cookie, ...fetchSite(site) };
      expect(await ask({ method: 'POST', headers })).toBe('origin_not_allowed');
    },
  );

  test('[AU16] on a socket only with our Origin', async () => {
    expect(await ask({ socket: true, headers: { cookie, origin } })).toEqual(SIGNED_IN);
    expect(await ask({ socket: true, headers: { cookie } })).toBe('origin_not_allowed');
    const own = { cookie, ...fetchSite('same-origin') };
    expect(await ask({ socket: true, headers: own })).toBe('origin_not_allowed');
  });

  test('[AU16] a bearer token on a socket needs no Origin', async () => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    expect(await ask({ socket: true, headers })).toEqual(OPERATOR);
  });

  test('[AU17] a link from elsewhere opens a page', async () => {
    const headers = { cookie, ...fetchSite('cross-site') };
    expect(await ask({ headers, navigation: true })).toEqual(SIGNED_IN);
    expect(await ask({ headers, navigation: true, method: 'POST' })).toBe('origin_not_allowed');
  });

  test('[AU15] an unknown session is refused', async () => {
    expect(await ask({ headers: { cookie: 'callboard_session=old' } })).toBe('unauthenticated');
  });
});

describe('guessing', () => {
  test('[AU18] wrong tokens are counted, and the right one still passes', async () => {
    const { credentials } = setup();
    const guess = (address: string) =>
      credentials.authenticate(request({ address, headers: { authorization: 'Bearer wrong' } }));
    for (let n = 0; n < 3; n++) expect(await guess('10.0.0.1')).toMatchObject({ status: 401 });
    const refused = await guess('10.0.0.1');
    expect(refused).toMatchObject({ code: 'rate_limited', retryAfter: expect.any(Number) });
    expect(await guess('::ffff:10.0.0.1')).toMatchObject({ status: 429 });
    expect(await guess('10.0.0.2')).toMatchObject({ status: 401 });
    const right = request({ address: '10.0.0.1', headers: { authorization: `Bearer ${TOKEN}` } });
    expect(await credentials.authenticate(right)).toEqual(OPERATOR);
  });

  test('[AU19] nothing, or an old cookie, is no guess', async () => {
    const { credentials } = setup();
    for (let n = 0; n < 10; n++) {
      const headers = n % 2 ? {} : { cookie: 'callboard_session=old' };
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

function setup() {
  const credentials = createCredentials({
    findPrincipal: (token) => (token === TOKEN ? { kind: 'operator', sessionId: null } : undefined),
    sessions: {
      find: async (header) => (header?.includes('=good') ? 'session-1' : undefined),
    },
    failedAttempts: createFailedAttempts({ count: 3, windowSeconds: 60 }),
  });
  return { credentials };
}
