import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { ask, get, post } from './kit/ask.ts';
import { expect, sharedCallboard, test } from './kit/contract-test.ts';
import { sendRaw, upgradeHead } from './kit/raw-socket.ts';

const board = sharedCallboard();
const ROOT = resolve(import.meta.dirname, '../..');

/** Pages, by their folders: a new one is among them by itself. */
async function pagePaths(): Promise<string[]> {
  const files = await readdir(join(ROOT, 'app'), { recursive: true });
  return files
    .filter((file) => /(?:^|\/)page\.tsx$/.test(file))
    .map((file) => `/${file.replace(/\/?page\.tsx$/, '').replaceAll(/\[\w+\]/g, 'x')}`);
}

test('T138: in no spelling of a page is there anything of a run for a caller without a credential', async () => {
  const canary = 'canary-7f3a';
  const made = await post(board(), '/v1/runs', { input: `echo ${canary}`, model: 'rehearsal' });
  const { run_id } = made.body as { run_id: string };
  for (const path of [
    ...[`/?run=${run_id}`, `/index.rsc?run=${run_id}`, `/?run=${run_id}&_rsc=1`, '/tools.rsc'],
    ...[`/runs/${run_id}`, `/runs/${run_id}.rsc`, `/_next/data/BUILD/runs/${run_id}.json`],
    ...['/index.segments/_tree.segment.rsc', `/?nxtPrun=${run_id}`, '/sign-in.rsc', '/_tree'],
  ]) {
    for (const headers of [
      { rsc: '1' },
      { rsc: '1', 'next-router-prefetch': '1' },
      { rsc: '1', 'next-router-segment-prefetch': '/_tree' },
      { 'next-url': `/?run=${run_id}`, 'x-nextjs-data': '1' },
    ]) {
      const answer = await get(board(), path, { token: null, headers });
      expect([200, 303, 404], path).toContain(answer.status);
      expect(answer.text, path).not.toContain(canary);
      if (answer.status === 200) expect(path).toMatch(/^\/sign-in/);
    }
  }
});

test('T139: a server action is refused at once, whatever it carries, and the server goes on', async () => {
  const parts = ['["$F1"]', '{"id":"x","bound":null}', '"$1:__proto__:then"', '"$@0"'];
  const body = `${parts
    .map((part, n) => `--x\r\nContent-Disposition: form-data; name="${n}"\r\n\r\n${part}\r\n`)
    .join('')}--x--\r\n`;
  for (const path of ['/', '/tools', '/sign-in', '/sign-in/x']) {
    for (const token of [null, board().token]) {
      const headers = { 'next-action': 'x', 'content-type': 'multipart/form-data; boundary=x' };
      const startedAt = performance.now();
      const answer = await ask(board(), 'POST', path, { token, headers, body });
      expect([404, 405], path).toContain(answer.status);
      expect(performance.now() - startedAt).toBeLessThan(1_000);
    }
  }
  expect((await get(board(), '/healthz')).status).toBe(200);
});

test('T140: an upgrade, or a request, that names another server reaches none', async () => {
  let connections = 0;
  const other = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
  const address = other.address();
  const host = `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  for (const target of [
    ...[`http://${host}/`, `ws://${host}/ws/client`, `http:/${host}/x`, `//${host}/ws/client`],
    ...[`/http://${host}/`, `/_next/webpack-hmr?url=http://${host}`, `/_next/hmr`, `${host}`],
  ]) {
    for (const header of [
      `Authorization: Bearer ${board().token}`,
      `X-Forwarded-Host: ${host}`,
      `X-Middleware-Rewrite: http://${host}/`,
    ]) {
      const upgraded = await sendRaw(board(), upgradeHead(board(), target, [header]));
      expect(upgraded, target).toMatch(/^HTTP\/1\.1 (?:400|401|403|404) /);
      const own = `Host: ${new URL(board().url).host}\r\nConnection: close\r\n`;
      const asked = await sendRaw(board(), `GET ${target} HTTP/1.1\r\n${own}${header}\r\n\r\n`);
      expect(asked, target).toMatch(/^HTTP\/1\.1 (?:303|400|401|404) /);
    }
  }
  const connect = await sendRaw(board(), `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  expect(connect).not.toMatch(/^HTTP\/1\.1 2/);
  expect(connections).toBe(0);
  other.close();
});

test('T141: the image fetcher fetches nothing, for an operator neither', async () => {
  const other = createServer((socket) => socket.destroy());
  let connections = 0;
  other.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
  const address = other.address();
  const port = typeof address === 'object' ? address?.port : 0;
  for (const url of [`http://127.0.0.1:${port}/`, `//127.0.0.1:${port}/`, '/icon.svg']) {
    for (const width of [64, 100_000]) {
      const path = `/_next/image?url=${encodeURIComponent(url)}&w=${width}&q=75`;
      expect((await get(board(), path)).status, path).toBe(404);
    }
  }
  expect(connections).toBe(0);
  other.close();
});

test('T142: what browsers are sent has no secret, no name of one, and no map to the sources', async () => {
  const files = await readdir(join(ROOT, '.next/static'), { recursive: true });
  const scripts = files.filter((file) => /\.(?:js|css)$/.test(file));
  expect(scripts.length).toBeGreaterThan(5);
  expect(files.filter((file) => file.endsWith('.map'))).toEqual([]);
  const client = await readdir(join(ROOT, 'dist/client'), { recursive: true });
  const all = [
    ...scripts.map((file) => join(ROOT, '.next/static', file)),
    ...client.filter((file) => file.endsWith('.js')).map((file) => join(ROOT, 'dist/client', file)),
  ];
  const secrets = Object.entries(process.env)
    .filter(([name, value]) => /TOKEN|SECRET|PASSWORD|_KEY$/.test(name) && (value ?? '').length > 7)
    .map(([, value]) => value ?? '');
  for (const file of all) {
    const text = await readFile(file, 'utf8');
    expect(text, file).not.toMatch(
      /process\.env\.(?!NODE_ENV)[A-Z]|CALLBOARD_DATA_DIR|DATABASE_URL/,
    );
    expect(text, file).not.toContain('sourceMappingURL');
    expect(text.includes(ROOT), file).toBe(false);
    for (const secret of secrets) expect(text.includes(secret), file).toBe(false);
  }
});

test('T13: every page, for an operator and without a credential, may be in no frame', async () => {
  const paths = [...(await pagePaths()), '/no-such-page', '/trust', '/_next/image', '/device'];
  expect(paths.length).toBeGreaterThan(8);
  for (const path of paths) {
    for (const token of [null, board().token]) {
      const { headers } = await get(board(), path, { token });
      expect(String(headers['content-security-policy']), path).toContain("frame-ancestors 'none'");
    }
  }
});

test('T144: no page is kept by a cache between people, and neither is what the API answers', async () => {
  for (const path of [...(await pagePaths()), '/v1/tools', '/v1/me', '/v1/reach', '/api/tools']) {
    for (const token of [null, board().token]) {
      const { headers, status } = await get(board(), path, { token });
      expect(String(headers['cache-control']), `${status} ${path}`).toMatch(/no-store|private/);
      expect(String(headers['cache-control'])).not.toMatch(/public|s-maxage/);
    }
  }
});

test('T12: no token is in an address that a page or the server gives', async () => {
  const { pathname } = new URL(board().signInUrl);
  const page = await get(board(), pathname, { token: null });
  expect(page.headers['referrer-policy']).toBe('no-referrer');
  expect(page.text).not.toContain(board().token);
  for (const path of ['/', '/tools?a=1', '/docs']) {
    const { headers, text } = await get(board(), path, { token: null });
    expect(`${headers.location} ${text}`).not.toContain(board().token);
    expect((await get(board(), path)).text).not.toContain(board().token);
  }
  for (const name of ['token', 'access_token', 'authorization', 'bearer', 'key']) {
    const answer = await get(board(), `/v1/tools?${name}=${board().token}`, { token: null });
    expect(answer.status, name).toBe(401);
  }
  expect(board().log()).not.toContain(board().token);
});
