import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { sharedTempDir } from '#lib/testing/temp-dir';
import { startTestServer } from './testing/start-test-server.ts';

const dir = sharedTempDir();
mkdirSync(join(dir, 'client'));
const SCRIPT = 'console.log("a client");\n';
writeFileSync(join(dir, 'client', 'client.js'), SCRIPT);

const visitor = { token: null };
const embedded = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' };

test('[HT93] a page of any site may run the script, without a credential, and none may read it', async () => {
  const server = await startTestServer({ dist: dir });
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
  const { port } = await startTestServer({ dist: dir });
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
