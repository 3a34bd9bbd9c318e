import { expect, test } from 'vitest';
import { startTestServer } from './testing/start-test-server.ts';

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255, 254]);

test('[HT27] bytes with their type go in and come out', async () => {
  const server = await startTestServer();
  const headers = { 'content-type': 'image/png; x=1' };
  const put = await server.ask('POST', '/v1/blobs', { body: PNG, headers });
  expect(put).toMatchObject({ status: 200, json: { media_type: 'image/png', size: PNG.length } });
  const got = await server.get(`/v1/blobs/${put.json.blob_id}`);
  expect(got.status).toBe(200);
  expect(got.headers).toMatchObject({
    'content-type': 'image/png',
    'content-length': String(PNG.length),
    'content-disposition': `inline; filename*=UTF-8''${put.json.blob_id}`,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
    'cache-control': 'private, max-age=31536000, immutable',
  });
  const known = { 'if-none-match': String(got.headers.etag) };
  expect((await server.get(`/v1/blobs/${put.json.blob_id}`, { headers: known })).status).toBe(304);
});

test('[HT27] base64 in JSON goes in as bytes', async () => {
  const server = await startTestServer();
  const body = { media_type: 'image/png', data: PNG.toString('base64'), name: 'a "b"\r\n.png' };
  const { json } = await server.post('/v1/blobs', body);
  expect(json.size).toBe(PNG.length);
  const { headers } = await server.get(`/v1/blobs/${json.blob_id}`);
  expect(headers['content-disposition']).toBe("inline; filename*=UTF-8''a%20%22b%22%0D%0A.png");
  expect((await server.post('/v1/blobs', { ...body, data: '***' })).status).toBe(400);
});

test.each(['text/html', 'image/svg+xml', 'application/xhtml+xml', 'application/pdf', 'text/xml'])(
  '[HT26] %s is a download of plain bytes',
  async (type) => {
    const server = await startTestServer();
    const headers = { 'content-type': type };
    const { json } = await server.ask('POST', '/v1/blobs', { body: '<script>1</script>', headers });
    const got = await server.get(`/v1/blobs/${json.blob_id}`);
    expect(got.headers['content-type']).toBe('application/octet-stream');
    expect(got.headers['content-disposition']).toMatch(/^attachment; /);
  },
);

test('[HT26] sound and video are shown in place', async () => {
  const server = await startTestServer();
  for (const type of ['audio/mpeg', 'video/webm']) {
    const { json } = await server.ask('POST', '/v1/blobs', {
      body: 'x',
      headers: { 'content-type': type },
    });
    const got = await server.get(`/v1/blobs/${json.blob_id}`);
    expect(got.headers['content-disposition']).toMatch(/^inline; /);
  }
});

test('[HT5] no bytes, or too many, are refused', async () => {
  const server = await startTestServer();
  const headers = { 'content-type': 'image/png' };
  expect((await server.ask('POST', '/v1/blobs', { body: '', headers })).status).toBe(400);
  const large = { ...headers, 'content-length': String(32 * 1024 * 1024) };
  const refused = await server.ask('POST', '/v1/blobs', { body: PNG, headers: large });
  expect(refused).toMatchObject({ status: 413, json: { error: { code: 'too_large' } } });
});
