import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, test } from 'vitest';
import { startTestServer, TOKENS } from './testing/start-test-server.ts';

const visitor = { token: null };

describe('who sees a page', () => {
  test.each([
    '/',
    '/tools',
    '/docs',
    '/sign-in2',
    '/sign-in/a/b',
    '/?_rsc=abc',
    '/index.rsc?run=run_1',
    '/tools.segments/_tree.segment.rsc',
    '/sign-in.rsc',
    '/_next',
    '/nowhere',
  ])('[HT29] T138: a visitor of %s is led to the sign-in page, or learns nothing', async (path) => {
    const { server, seen } = await setup();
    const answer = await server.get(path, visitor);
    expect([303, 404]).toContain(answer.status);
    if (answer.status === 303) {
      const next = path === '/' ? '' : `?next=${encodeURIComponent(path)}`;
      expect(answer.headers.location).toBe(`/sign-in${next}`);
    }
    expect(seen).toEqual([]);
  });

  test.each([
    '/sign-in',
    '/sign-in?expired=1',
    '/sign-in/a-Code_0',
    '/_next/static/chunks/a.js',
    '/favicon.ico',
    '/icon.svg',
    '/manifest.webmanifest',
  ])('[HT29] a visitor may have %s', async (path) => {
    const { server, seen } = await setup();
    expect((await server.get(path, visitor)).status).toBe(200);
    expect(seen).toHaveLength(1);
  });

  test('[HT29] an operator sees pages, an agent and a device do not', async () => {
    const { server } = await setup();
    expect((await server.get('/')).text).toBe('a page');
    expect((await server.get('/', { token: TOKENS.agent })).status).toBe(303);
    expect((await server.get('/', { token: TOKENS.device })).status).toBe(303);
  });

  test('[HT29] a link from elsewhere opens a page, another site does not embed it', async () => {
    const { server } = await setup();
    const { cookie: set } = await server.sessions.signIn(null, false);
    const cookie = set.split(';')[0] ?? '';
    const from = (dest: string) => ({
      cookie,
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': dest,
    });
    expect((await server.get('/', { token: null, headers: from('document') })).status).toBe(200);
    expect((await server.get('/', { token: null, headers: from('iframe') })).status).toBe(303);
  });
});

describe('drawing', () => {
  /** A server whose pages are drawn when the test allows it. */
  async function slowly(options: Parameters<typeof startTestServer>[0] = {}) {
    const drawing: (() => void)[] = [];
    const server = await startTestServer({
      ...options,
      pages: ({ url }, outgoing) =>
        new Promise<void>((done) => {
          if (url === '/favicon.ico') {
            outgoing.end('an icon');
            return done();
          }
          drawing.push(() => {
            outgoing.end('a page');
            done();
          });
        }),
    });
    const asked: Promise<number>[] = [];
    const ask = (path: string, options?: Parameters<typeof server.get>[1]) =>
      void asked.push(server.get(path, options).then(({ status }) => status));
    return { server, drawing, asked, ask };
  }

  test('[HT47] two pages of visitors are drawn at a time, and operators do not wait for them', async () => {
    const { drawing, asked, ask } = await slowly();
    for (let count = 0; count < 67; count += 1) ask('/sign-in', visitor);
    // The one for which there is no place is answered while none is drawn.
    expect(await Promise.any(asked)).toBe(429);
    expect(drawing).toHaveLength(2);
    ask('/');
    await expect.poll(() => drawing.length).toBe(3);
    const statuses = await drawUntil(Promise.all(asked), drawing);
    expect(statuses.filter((status) => status === 200)).toHaveLength(67);
  });

  test('[HT47] what another site embeds or fetches is not drawn', async () => {
    const { server, seen } = await setup();
    for (const mode of ['no-cors', 'cors']) {
      for (const site of ['cross-site', 'same-site']) {
        const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': mode };
        expect((await server.get('/sign-in/abc', { token: null, headers })).status).toBe(403);
      }
    }
    expect(seen).toEqual([]);
  });
});

test('[HT58] 64 files are on their way to visitors at a time, and operators do not wait for them', async () => {
  const sending: (() => void)[] = [];
  const server = await startTestServer({
    pages: (_incoming, outgoing) => void sending.push(() => outgoing.end('a file')),
  });
  const { cookie } = await server.sessions.signIn(null, false);
  const headers = { cookie: cookie.split(';')[0] ?? '' };
  const file = '/_next/static/chunks/a.js';
  const asked = Array.from({ length: 100 }, () => server.get(file, visitor));
  await expect.poll(() => sending.length).toBe(64);
  asked.push(server.get(file, { token: null, headers }));
  await expect.poll(() => sending.length).toBe(65);
  const statuses = await drawUntil(Promise.all(asked), sending);
  expect(statuses.every(({ status }) => status === 200)).toBe(true);
});

/** Draws what is begun until all is over. */
async function drawUntil<T>(over: Promise<T>, drawing: (() => void)[]): Promise<T> {
  let isOver = false;
  void over.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    for (const draw of drawing.splice(0)) draw();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return over;
}

describe('the policy', () => {
  test('[HT30] has a nonce of its own, which Next receives', async () => {
    const { server, seen } = await setup();
    const policies = [await server.get('/'), await server.get('/')].map((answer) =>
      String(answer.headers['content-security-policy']),
    );
    const nonces = policies.map(
      (policy) => /script-src 'nonce-([\w+/=]+)' 'strict-dynamic';/.exec(policy)?.[1],
    );
    expect(nonces[0]).toBeDefined();
    expect(nonces[0]).not.toBe(nonces[1]);
    expect(seen.map((headers) => headers['content-security-policy'])).toEqual(policies);
  });

  test('[HT30] T11 T13: redirects and errors have it too', async () => {
    const { server } = await setup();
    const host = `127.0.0.1:${server.port}`;
    const answers = [
      await server.get('/', visitor),
      await server.get('/_next/image?url=x'),
      await server.ask('DELETE', '/'),
      await server.get('/'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([303, 404, 405, 200]);
    for (const { headers } of answers) {
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain(`connect-src 'self' ws://${host} wss://${host};`);
      expect(policy).not.toContain('unsafe-eval');
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['referrer-policy']).toBe('no-referrer');
      expect(headers['cross-origin-opener-policy']).toBe('same-origin');
      for (const part of ['camera=(self)', 'microphone=(self)', 'web-share=(self)', 'usb=()'])
        expect(headers['permissions-policy']).toContain(part);
    }
  });

  test('[HT30] a policy in the request is not believed', async () => {
    const { server, seen } = await setup();
    const own = { 'content-security-policy': "script-src 'nonce-mine'" };
    const headers = { ...own, 'content-security-policy-report-only': "script-src 'nonce-mine'" };
    await server.get('/', { headers });
    expect(JSON.stringify(seen)).not.toContain('nonce-mine');
  });
});

describe('what Next may not do', () => {
  test.each([
    '/_next/image?url=http://127.0.0.1:1',
    '/_next/data/x/index.json',
    '/_next/x',
    '/__nextjs_source',
  ])('[HT31] T141: %s is 404', async (path) => {
    const { server, seen } = await setup();
    expect((await server.get(path)).status).toBe(404);
    expect(seen).toEqual([]);
  });

  test('[HT31] T139: no server actions, no other methods', async () => {
    const { server, seen } = await setup();
    const headers = { 'next-action': 'abc' };
    expect((await server.ask('POST', '/', { headers })).status).toBe(404);
    expect((await server.get('/', { headers })).status).toBe(404);
    expect((await server.ask('POST', '/')).status).toBe(405);
    expect(seen).toEqual([]);
  });

  test('[HT31] T137: headers of its inner parts do not reach it', async () => {
    const { server, seen } = await setup();
    const inner = { 'x-middleware-subrequest': 'a', 'x-invoke-path': '/b', 'x-matched-path': '/c' };
    await server.get('/', { headers: { ...inner, 'accept-language': 'zh' } });
    expect(seen[0]).toMatchObject({ 'accept-language': 'zh' });
    for (const name of Object.keys(inner)) expect(seen[0]).not.toHaveProperty(name);
  });
});

async function setup({ development = false } = {}) {
  const seen: IncomingHttpHeaders[] = [];
  const server = await startTestServer({
    development,
    pages(incoming, outgoing) {
      seen.push(incoming.headers);
      outgoing.end('a page');
    },
  });
  return { server, seen };
}
