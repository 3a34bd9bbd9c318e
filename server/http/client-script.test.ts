import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { startTestServer } from './testing/start-test-server.ts';

const dir = mkdtempSync(join(tmpdir(), 'callboard-script-'));
const file = join(dir, 'client.js');
const SCRIPT = 'console.log("a client");\n';
writeFileSync(file, SCRIPT);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const visitor = { token: null };
const embedded = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' };

test('[HT93] a page of any site may run the script, without a credential, and none may read it', async () => {
  const server = await startTestServer({ clientScript: file });
  const answer = await server.get('/client.js', { ...visitor, headers: embedded });
  expect([answer.status, answer.text]).toEqual([200, SCRIPT]);
  expect(answer.headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
    vary: 'accept-encoding',
  });
  expect(Object.keys(answer.headers).join()).not.toContain('access-control');
});

test.each([
  ['gzip, deflate, br', true],
  ['br;q=1, gzip;q=0.5', true],
  ['gzip;q=0', false],
  ['gzip;q=0.0, br', false],
  ['br', false],
  ['', false],
])('[HT93] to a caller that accepts %j it is compressed: %s', async (accepted, isGzipped) => {
  const { port } = await startTestServer({ clientScript: file });
  const headers = { 'accept-encoding': accepted };
  const bytes = await new Promise<Buffer>((resolve, reject) => {
    request({ host: '127.0.0.1', port, path: '/client.js', headers, agent: false })
      .on('error', reject)
      .on('response', (response) => {
        expect(response.headers['content-encoding']).toBe(isGzipped ? 'gzip' : undefined);
        resolve(buffer(response));
      })
      .end();
  });
  expect(String(isGzipped ? gunzipSync(bytes) : bytes)).toBe(SCRIPT);
});

test('[HT93] it is there for GET and HEAD alone', async () => {
  const server = await startTestServer({ clientScript: file });
  const head = await server.ask('HEAD', '/client.js', visitor);
  expect([head.status, head.text]).toEqual([200, '']);
  const post = await server.post('/client.js', {}, visitor);
  expect([post.status, post.headers.allow]).toEqual([405, 'GET, HEAD']);
});

test('[HT2] [HT93] a foreign Origin is refused, as everywhere', async () => {
  const server = await startTestServer({ clientScript: file });
  const headers = { ...embedded, origin: 'https://shop.example' };
  expect((await server.get('/client.js', { ...visitor, headers })).status).toBe(403);
});

test('[HT93] where it is not built a 404 says so, until it is', async () => {
  const later = join(dir, 'later.js');
  const server = await startTestServer({ clientScript: later });
  const answer = await server.get('/client.js', visitor);
  expect([answer.status, answer.json.error.message]).toEqual([
    404,
    'The client library is not built; npm run build makes it.',
  ]);
  writeFileSync(later, SCRIPT);
  expect((await server.get('/client.js', visitor)).text).toBe(SCRIPT);
});
