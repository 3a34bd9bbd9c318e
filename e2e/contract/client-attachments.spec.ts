import { hash } from 'node:crypto';
import { attachmentSchema } from '../../lib/protocol/attachment.ts';
import { LIMITS } from '../../lib/protocol/limits.ts';
import { get, post } from './kit/ask.ts';
import { invoke, readCall } from './kit/calls.ts';
import { expect, overEachTransport, sharedCallboard, test } from './kit/contract-test.ts';

overEachTransport(() => {
  const board = sharedCallboard();

  /** Two by one pixels. */
  const PNG = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAD0lEQVQImWP4z8Dwn4EBAAj+Af/KOtJRAAAAAElFTkSuQmCC',
    'base64',
  );
  const png = (more: object = {}) => ({
    media_type: 'image/png',
    data: PNG.toString('base64'),
    ...more,
  });

  test('§5 a picture sent as base64 lies in a blob, with its size and type, and out of the record', async ({
    connect,
  }) => {
    const client = await connect.client(board(), { tools: ['photo'] });
    const id = await invoke(board(), 'photo');
    await client.request();
    client.succeed(id, 'taken', { attachments: [png({ name: 'a.png', alt: 'A red dot' })] });
    expect(await client.next('result_acknowledged')).toMatchObject({ disposition: 'accepted' });
    const call = await readCall(board(), id);
    const [picture] = call.attachments;
    expect(picture).toEqual({
      blob_id: expect.stringMatching(/^blob_[0-9a-f]{40}$/),
      media_type: 'image/png',
      size: PNG.length,
      name: 'a.png',
      alt: 'A red dot',
      width: 2,
      height: 1,
    });
    expect(call.card.attachments).toEqual(call.attachments);
    expect(JSON.stringify(call)).not.toContain(PNG.toString('base64').slice(0, 40));
    const blob = await get(board(), `/v1/blobs/${picture?.blob_id}`);
    expect(blob.bytes.equals(PNG)).toBe(true);
    expect(blob.headers['content-type']).toBe('image/png');
  });

  test('§6 large bytes are uploaded first and named in the result', async ({ connect }) => {
    const client = await connect.client(board(), { tools: ['archive'] });
    const id = await invoke(board(), 'archive');
    await client.request();
    const bytes = Buffer.alloc(3 * 1024 * 1024, 7);
    const uploaded = await post(board(), '/v1/blobs', bytes, {
      headers: { 'content-type': 'application/octet-stream' },
    });
    expect(uploaded.status).toBe(200);
    const { blob_id } = attachmentSchema.parse(uploaded.body);
    client.succeed(id, 'see the file', {
      attachments: [{ media_type: 'application/octet-stream', blob_id, name: 'all.bin' }],
    });
    await client.next('result_acknowledged');
    const [file] = (await readCall(board(), id)).attachments;
    expect(file).toMatchObject({ blob_id, size: bytes.length, name: 'all.bin' });
  });

  test('§5 a result that is too large fails, and says how to send it', async ({ connect }) => {
    const client = await connect.client(board(), { tools: ['talker'] });
    const id = await invoke(board(), 'talker');
    await client.request();
    client.succeed(id, 'x'.repeat(LIMITS.resultBytes + 1));
    const rejected = await client.next('result_rejected');
    expect(rejected).toMatchObject({ id, code: 'result_too_large', final: true });
    expect(rejected.message).toMatch(/attachment/i);
    expect((await readCall(board(), id)).error?.code).toBe('result_too_large');
  });

  test('§5 an answer from a client that was not asked leaves no blob', async ({ connect }) => {
    await connect.client(board(), { tools: ['asked_one'] });
    const stranger = await connect.client(board());
    const id = await invoke(board(), 'asked_one');
    const text = Buffer.from('not mine to say');
    stranger.succeed(id, 'x', {
      attachments: [{ media_type: 'text/plain', data: text.toString('base64') }],
    });
    expect(await stranger.next('result_rejected')).toMatchObject({ code: 'not_your_call' });
    const blobId = `blob_${hash('sha256', text).slice(0, 40)}`;
    expect((await get(board(), `/v1/blobs/${blobId}`)).status).toBe(404);
  });

  test('§2 a large result is whole in the record and begun on the card', async ({ connect }) => {
    const client = await connect.client(board(), { tools: ['novel'] });
    const id = await invoke(board(), 'novel');
    await client.request();
    const text = 'é'.repeat(100_000);
    client.succeed(id, text);
    await client.next('result_acknowledged');
    const call = await readCall(board(), id);
    expect(call.result).toBe(text);
    expect(call.card.result_bytes).toBe(200_000);
    expect(String(call.card.result).length).toBeLessThan(20_000);
    expect(text.startsWith(String(call.card.result))).toBe(true);
  });
});
