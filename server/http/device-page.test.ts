import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sharedTempDir } from '#lib/testing/temp-dir';
import { startTestServer } from './testing/start-test-server.ts';

const dir = sharedTempDir();
const deviceDir = join(dir, 'device');
mkdirSync(deviceDir);
const [entry, part, style] = ['device-AAAA1111.js', 'part-BBBB2222.js', 'device-CCCC3333.css'];
writeFileSync(
  join(deviceDir, 'index.json'),
  JSON.stringify({ entry, preload: [part], style, assets: [entry, part, style] }),
);
for (const name of [entry, part, style, 'sw.js', 'push-sw.js', 'icon-192.png']) {
  writeFileSync(join(deviceDir, name), `content of ${name}`);
}
writeFileSync(join(dir, 'secret.js'), 'not of the page');
writeFileSync(join(deviceDir, 'part-OLD00000.js'), 'of an earlier build');

const visitor = { token: null };

test.each(['/device', '/pair', '/pair/ABCD2345', '/pair/abcd%202345'])(
  '[DP20] %s is the page, for every caller, with a nonce of its own',
  async (path) => {
    const server = await startTestServer({ dist: dir });
    const answer = await server.get(path, visitor);
    expect([answer.status, answer.headers['content-type']]).toEqual([
      200,
      'text/html; charset=utf-8',
    ]);
    const nonce = /src="\/device\/assets\/device-AAAA1111\.js"/.test(answer.text)
      ? /<script type="module" nonce="([^"]+)"/.exec(answer.text)?.[1]
      : undefined;
    expect(answer.headers['content-security-policy']).toContain(`'nonce-${nonce}'`);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.headers['referrer-policy']).toBe('no-referrer');
    expect((await server.get(path, visitor)).text).not.toContain(String(nonce));
  },
);

test('[DP20] its policy allows the microphone and a service worker', async () => {
  const server = await startTestServer({ dist: dir });
  const { headers } = await server.get('/device', visitor);
  expect(headers['permissions-policy']).toContain('microphone=(self)');
  expect(headers['permissions-policy']).toContain('camera=(self)');
  expect(headers['content-security-policy']).toContain("worker-src 'self'");
});

test('[DP20] a file with a hash in its name is immutable, the service worker is not', async () => {
  const server = await startTestServer({ dist: dir });
  const script = await server.get(`/device/assets/${entry}`, visitor);
  expect([script.status, script.text]).toEqual([200, `content of ${entry}`]);
  expect(script.headers['cache-control']).toContain('immutable');
  const worker = await server.get('/device/sw.js', visitor);
  expect(worker.headers).toMatchObject({
    'cache-control': 'no-cache',
    'service-worker-allowed': '/device',
    'content-type': 'text/javascript; charset=utf-8',
  });
  expect((await server.get('/device/icon-192.png', visitor)).headers['content-type']).toBe(
    'image/png',
  );
});

test.each([
  '/device/assets/secret.js',
  '/device/assets/part-OLD00000.js',
  '/device/assets/index.json',
  '/device/index.json',
  '/device/other',
  '/pair/ABCD2345/more',
])('[DP20] %s is no file of the page', async (path) => {
  const server = await startTestServer({ dist: dir });
  const { status, text } = await server.get(path, visitor);
  // What the page does not serve may be one of the workbench's, which asks to sign in.
  expect(status).not.toBe(200);
  expect(text).not.toContain('not of the page');
});

test('[DP20] another site may link to it, and not embed or fetch it', async () => {
  const server = await startTestServer({ dist: dir });
  const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' };
  expect((await server.get('/device', { ...visitor, headers })).status).toBe(403);
  const linked = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
  expect((await server.get('/device', { ...visitor, headers: linked })).status).toBe(200);
  expect((await server.post('/device', {}, visitor)).status).toBe(405);
});

test('[DP20] where it is not built a 404 says so', async () => {
  const server = await startTestServer({ dist: join(dir, 'nowhere') });
  const answer = await server.get('/device', visitor);
  expect([answer.status, answer.json.error.message]).toEqual([
    404,
    'The device page is not built; npm run build makes it.',
  ]);
});

test('[WP24] the service worker of push notes is served without a credential, for its own folder alone', async () => {
  const server = await startTestServer({ dist: dir });
  const { status, headers, text } = await server.get('/push/sw.js', visitor);
  expect([status, text, headers['cache-control']]).toEqual([
    200,
    'content of push-sw.js',
    'no-cache',
  ]);
  expect(headers['service-worker-allowed']).toBeUndefined();
  // No page is there: signed in or not, a person is led to the one that is.
  expect((await server.get('/push/', visitor)).status).toBe(303);
  expect((await server.get('/', visitor)).headers['content-security-policy']).toContain(
    "worker-src 'self'",
  );
});
