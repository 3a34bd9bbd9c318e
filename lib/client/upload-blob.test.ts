import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { createHttpUploadBlob } from './encode-answer.ts';

async function setup(status: number, answer: unknown) {
  const received: { path: string | undefined; type: string | undefined; bytes: Buffer }[] = [];
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const bytes = Buffer.concat(chunks);
    received.push({ path: request.url, type: request.headers['content-type'], bytes });
    response.statusCode = status;
    response.end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const baseUrl = `http://127.0.0.1:${address.port}`;
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

test('a refusal is told with its status', async () => {
  const { upload } = await setup(413, { error: {} });
  await expect(upload(picture)).rejects.toThrow('answered 413');
});

test('an answer without an id is no success', async () => {
  const { upload } = await setup(200, {});
  await expect(upload(picture)).rejects.toThrow('blob_id');
});
