import { buffer } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { serveHttp } from '../net/testing/serve-http.ts';
import { createHttpUploadBlob } from './encode-answer.ts';

async function setup(status: number, answer: unknown) {
  const received: { path: string | undefined; type: string | undefined; bytes: Buffer }[] = [];
  const { origin: baseUrl, close } = await serveHttp(async (request, response) => {
    const bytes = await buffer(request);
    received.push({ path: request.url, type: request.headers['content-type'], bytes });
    response.statusCode = status;
    response.end(JSON.stringify(answer));
  });
  onTestFinished(close);
  return { received, upload: createHttpUploadBlob({ baseUrl, fetch }) };
}

const picture = { bytes: new Uint8Array([1, 2, 3]), mediaType: 'image/png' };

test('it posts the bytes under their type and gives the id', async () => {
  const { upload, received } = await setup(200, { blob_id: 'blob_1', size: 3 });
  expect(await upload(picture)).toBe('blob_1');
  expect(received).toEqual([
    { path: '/v1/blobs', type: 'image/png', bytes: Buffer.from([1, 2, 3]) },
  ]);
});

test('a refusal is told with its status, and an answer without an id is no success', async () => {
  await expect((await setup(413, {})).upload(picture)).rejects.toThrow('answered 413');
  await expect((await setup(200, {})).upload(picture)).rejects.toThrow('blob_id');
});
