import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { LIMITS } from '#lib/protocol/limits';
import { tempDir } from '#lib/testing/temp-dir';
import { writeDurably } from '../base/write-durably.ts';
import { BlobDamagedError, type BlobUpload, createDiskBlobStore } from './disk-blob-store.ts';

function setup() {
  const parent = tempDir();
  const dir = join(parent, 'blobs');
  return { dir, open: () => createDiskBlobStore({ dir }), blobs: createDiskBlobStore({ dir }) };
}

const text = (value: string, more: Partial<BlobUpload> = {}): BlobUpload => ({
  mediaType: 'text/plain',
  bytes: Buffer.from(value),
  ...more,
});

test('[BL1] [BL3] a picture comes back as it was put, after a restart too', async () => {
  const { blobs, open } = setup();
  const bytes = await sharp({ create: { width: 20, height: 10, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  const outcome = await blobs.put({
    mediaType: 'image/png',
    bytes,
    name: 'a.png',
    alt: 'red',
    owner: 'ada',
  });
  const attachment = {
    blob_id: expect.stringMatching(/^blob_[0-9a-f]{40}$/),
    media_type: 'image/png',
    size: bytes.length,
    name: 'a.png',
    alt: 'red',
    width: 20,
    height: 10,
  };
  expect(outcome).toEqual({ ok: true, attachment });
  const id = outcome.ok ? outcome.attachment.blob_id : '';
  expect(await open().read(id, 'ada')).toEqual({ attachment, bytes });
});

test('[BL1] [BL2] the same bytes are kept once, under the name and type of each owner', async () => {
  const { blobs, dir, open } = setup();
  const first = await blobs.put(text('{}', { name: 'a.txt', alt: 'of ada', owner: 'ada' }));
  const files = readdirSync(dir);
  const json = { mediaType: 'application/json', alt: 'empty', owner: 'bob' };
  const second = await blobs.put(text('{}', json));
  expect(readdirSync(dir)).toEqual(files);
  const id = first.ok ? first.attachment.blob_id : '';
  const ofBob = { blob_id: id, media_type: 'application/json', size: 2, alt: 'empty' };
  expect(second).toEqual({ ok: true, attachment: expect.objectContaining(ofBob) });
  const again = open();
  expect(await again.find(id, 'bob')).toEqual(ofBob);
  expect(await again.find(id, 'ada')).toMatchObject({ name: 'a.txt', alt: 'of ada' });
  for (const owner of [undefined, 'eve', '__proto__']) {
    const seen = await again.find(id, owner);
    expect([seen?.media_type, seen?.name, seen?.alt]).toEqual(['text/plain', undefined, undefined]);
  }
});

test('[BL1] a secret in a name is not kept', async () => {
  const { dir } = setup();
  const blobs = createDiskBlobStore({ dir, hide: (value) => value.replace('hunter2', '[hidden]') });
  const put = await blobs.put(text('x', { name: 'hunter2.txt', alt: 'hunter2', owner: 'ada' }));
  expect(put).toMatchObject({ attachment: { name: '[hidden].txt', alt: '[hidden]' } });
  const id = put.ok ? put.attachment.blob_id : '';
  expect(readFileSync(join(dir, `${id}.json`), 'utf8')).not.toContain('hunter2');
});

test('[BL2] an unspecific type gives way to a specific one', async () => {
  const { blobs } = setup();
  const plain = text('GIF89a\u0001\0\u0001\0', { mediaType: 'application/octet-stream' });
  await blobs.put(plain);
  const outcome = await blobs.put({ ...plain, mediaType: 'image/gif' });
  const id = outcome.ok ? outcome.attachment.blob_id : '';
  expect((await blobs.read(id))?.attachment).toMatchObject({ media_type: 'image/gif', width: 1 });
  await blobs.put(plain);
  expect((await blobs.read(id))?.attachment.media_type).toBe('image/gif');
});

test('[BL1] many uploads of the same bytes at once end as one blob', async () => {
  const { blobs, dir } = setup();
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => blobs.put(text('same'))));
  expect(new Set(outcomes.map((one) => one.ok && one.attachment.blob_id)).size).toBe(1);
  expect(readdirSync(dir)).toHaveLength(2);
});

test('[BL2] of uploads at once the type that says something stays, in any order', async () => {
  const { blobs } = setup();
  for (const value of ['1', '2', '3', '4', '5', '6', '7', '8']) {
    const [first] = await Promise.all([
      blobs.put(text(value)),
      blobs.put(text(value, { mediaType: 'application/octet-stream' })),
    ]);
    const id = first.ok ? first.attachment.blob_id : '';
    expect((await blobs.read(id))?.attachment.media_type).toBe('text/plain');
  }
});

test('[BL3] what a crash left half written is not a blob, and can be put again', async () => {
  const { blobs, dir, open } = setup();
  const outcome = await blobs.put(text('whole'));
  const id = outcome.ok ? outcome.attachment.blob_id : '';
  await rm(join(dir, `${id}.json`));
  writeFileSync(join(dir, `${id}.9.9.tmp`), 'who');
  const again = open();
  expect(await again.read(id)).toBeUndefined();
  expect(readdirSync(dir)).toEqual([id]);
  await again.put(text('whole'));
  expect((await again.read(id))?.bytes.toString()).toBe('whole');
});

test('[BL3] a write that fails is reported, and leaves no file', async () => {
  const { dir } = setup();
  await expect(writeDurably(dir, 'no/such/folder', Buffer.from('x'))).rejects.toThrow(/ENOENT/);
  mkdirSync(join(dir, 'taken', 'by'), { recursive: true });
  await expect(writeDurably(dir, 'taken', Buffer.from('x'))).rejects.toThrow(/rename/);
  await writeDurably(dir, 'name', Buffer.from('x'));
  expect(readdirSync(dir)).toEqual(['name', 'taken']);
});

test.each(['', 'blob_', '../a', `blob_${'a'.repeat(40)}`, `blob_${'a'.repeat(40)}/../secret`])(
  '[BL4] %j is not there',
  async (id) => {
    const { blobs, dir } = setup();
    writeFileSync(join(dir, '..', 'a'), 'secret');
    writeFileSync(join(dir, '..', 'a.json'), '{"blob_id":"x","media_type":"text/plain","size":6}');
    expect(await blobs.read(id)).toBeUndefined();
  },
);

test('[BL5] [BL6] what cannot be kept is refused with its reason', async () => {
  const { blobs, dir } = setup();
  const uploads: BlobUpload[] = [
    text(''),
    { mediaType: 'application/octet-stream', bytes: new Uint8Array(LIMITS.blobBytes + 1) },
    text('<html>', { mediaType: 'image/png' }),
    text('x', { mediaType: 'pictures' }),
  ];
  const outcomes = await Promise.all(uploads.map(blobs.put));
  expect(outcomes).toMatchObject([
    { ok: false, code: 'empty' },
    { ok: false, code: 'too_large' },
    { ok: false, code: 'mismatch', message: expect.stringContaining('not image/png') },
    { ok: false, code: 'mismatch', message: expect.stringContaining('is not a media type') },
  ]);
  expect(readdirSync(dir)).toEqual([]);
});

test('[BL7] the directory and its files are for their owner alone', async () => {
  const { blobs, dir } = setup();
  await blobs.put(text('x'));
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(dir)) {
    expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);
  }
});

test('[BL14] bytes that the disk has damaged are not given out, until they are put again', async () => {
  const { blobs, dir } = setup();
  const outcome = await blobs.put(text('all is well'));
  const id = outcome.ok ? outcome.attachment.blob_id : '';
  writeFileSync(join(dir, id), 'all is wall');
  await expect(blobs.read(id)).rejects.toThrow(BlobDamagedError);
  await blobs.put(text('all is well'));
  expect((await blobs.read(id))?.bytes).toEqual(Buffer.from('all is well'));
});

async function idsOf(blobs: AsyncIterable<string>): Promise<string[]> {
  const ids: string[] = [];
  for await (const id of blobs) ids.push(id);
  return ids;
}

test('[BL15] a blob is removed unless it was put again since, and the size follows', async () => {
  const { blobs, dir } = setup();
  const put = async (value: string) => {
    const outcome = await blobs.put(text(value));
    if (!outcome.ok) throw new Error(outcome.message);
    return outcome.attachment.blob_id;
  };
  const [old, again] = [await put('old'), await put('again')];
  expect(await blobs.size()).toBe(8);
  const before = Date.now() - 60_000;
  for (const id of [old, again]) utimesSync(join(dir, id), before / 1_000 - 9, before / 1_000 - 9);
  expect((await idsOf(blobs.putBefore(before))).toSorted()).toEqual([old, again].toSorted());
  expect(await put('again')).toBe(again);
  expect(await idsOf(blobs.putBefore(before))).toEqual([old]);
  expect(await Promise.all([blobs.remove(old, before), blobs.remove(again, before)])).toEqual([
    true,
    false,
  ]);
  expect(readdirSync(dir).toSorted()).toEqual([again, `${again}.json`]);
  expect(await blobs.size()).toBe(5);
  expect(await blobs.remove('../callboard.db', before)).toBe(false);
  await put('more');
  expect(await blobs.size()).toBe(9);
});
