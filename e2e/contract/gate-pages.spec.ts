import { ask, get } from './kit/ask.ts';
import { expect, sharedCallboard, test } from './kit/contract-test.ts';

const board = sharedCallboard();

test('T137 T138: §4 headers and paths by which parts of Next talk to each other open nothing', async () => {
  const middleware = 'middleware:middleware:middleware:middleware:middleware';
  const tricks: readonly [string, Record<string, string>][] = [
    ['/', { 'x-middleware-subrequest': middleware }],
    ['/', { 'x-middleware-subrequest': 'src/middleware:src/middleware:src/middleware' }],
    ['/', { 'x-middleware-subrequest': 'pages/_middleware' }],
    ['/tools', { rsc: '1' }],
    ['/?_rsc=abc', { rsc: '1', 'next-router-prefetch': '1' }],
    ['/tools.rsc', {}],
    ['/index.segments/_tree.segment.rsc', {}],
    ['/runs/run_1?nxtPid=run_1', { 'x-matched-path': '/runs/[id]' }],
    ['/', { 'x-invoke-path': '/tools', 'x-invoke-status': '200' }],
    ['/', { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }],
    ['/', { 'x-original-url': '/v1/tools', 'x-rewrite-url': '/v1/tools' }],
  ];
  for (const [path, headers] of tricks) {
    const answer = await get(board(), path, { token: null, headers });
    expect(answer.status, path).toBe(303);
    expect(String(answer.headers.location)).toMatch(/^\/sign-in/);
    expect(answer.text).toBe('');
  }
  for (const path of ['/v1/tools', '/api/tools', '/openapi.json', '/metrics']) {
    for (const [, headers] of tricks) {
      expect((await get(board(), path, { token: null, headers })).status, path).toBe(401);
    }
  }
});

test('T139 T141: §4 no page path fetches for others, runs actions or hands out data', async () => {
  const url = encodeURIComponent('http://127.0.0.1:9/x');
  for (const path of [
    `/_next/image?url=${url}&w=64&q=75`,
    '/_next/image?url=%2Ficon.svg&w=100000&q=75',
    '/_next/data/BUILD/index.json',
    '/_next/data/BUILD/runs/1.json',
    '/_next/../package.json',
    '/_next/static/../../server/main.js',
    '/_next/static/..%2f..%2fpackage.json',
    '/__nextjs_original-stack-frames',
    '/.env',
    '/.callboard/token',
    '/package.json',
  ]) {
    const answer = await get(board(), path);
    expect([400, 404], path).toContain(answer.status);
  }
  const body = '--x\r\nContent-Disposition: form-data; name="0"\r\n\r\n["$F1"]\r\n--x--\r\n';
  for (const path of ['/', '/tools', '/sign-in']) {
    const headers = { 'next-action': 'x', 'content-type': 'multipart/form-data; boundary=x' };
    const answer = await ask(board(), 'POST', path, { headers, body });
    expect([404, 405], path).toContain(answer.status);
  }
  expect((await get(board(), '/healthz')).status).toBe(200);
});
