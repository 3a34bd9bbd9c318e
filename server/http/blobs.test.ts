import { expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { createUploadQuota } from '../blobs/room.ts';
import { startTestServer, TOKENS } from './testing/start-test-server.ts';

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255, 254]);

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
    expect(got.headers['content-disposition']).toMatch(/^attachment\b/);
  },
);

test('[BL16] of each token but an administrator’s the bytes are counted, before they are kept', async () => {
  const uploads = createUploadQuota({ bytes_per_hour: 10 }, createManualClock());
  const server = await startTestServer({ deps: { uploads } });
  const put = (token: string, body: string) =>
    server.ask('POST', '/v1/blobs', { token, body, headers: { 'content-type': 'audio/mpeg' } });
  for (const token of [TOKENS.agent, TOKENS.colleague]) {
    expect((await put(token, '12345678')).status).toBe(200);
    const refused = await put(token, '123');
    expect(refused).toMatchObject({ status: 429, json: { error: { code: 'quota_exceeded' } } });
    expect(refused.headers['retry-after']).toBe('360');
    expect((await put(token, '12')).status).toBe(200);
  }
  expect((await put(TOKENS.operator, '1234567890')).status).toBe(200);
  expect((await put(TOKENS.operator, '1234567890')).status).toBe(200);
});
