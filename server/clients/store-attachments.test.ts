import { expect, test } from 'vitest';
import type { Attachment } from '#lib/protocol/attachment';
import { tempDir } from '#lib/testing/temp-dir';
import { type BlobStore, createDiskBlobStore } from '../blobs/disk-blob-store.ts';
import { storeAttachments } from './client-answer.ts';

const known: Attachment = { blob_id: `blob_${'a'.repeat(40)}`, media_type: 'image/png', size: 7 };
const unused = () => Promise.reject(new Error('the bytes are not needed'));
const blobs: BlobStore = {
  put: unused,
  read: unused,
  find: async (id) => (id === known.blob_id ? known : undefined),
};

async function kept(
  attachments: unknown,
  store: BlobStore = createDiskBlobStore({ dir: tempDir() }),
  take: (bytes: number) => number | undefined = () => undefined,
) {
  const message = { type: 'tool_result', id: 'tc_1', output: 'done', attachments } as const;
  const answer = await storeAttachments(message, { blobs: store, owner: 'tok_1', take });
  if (answer.ok !== true) throw new Error('the result is lost');
  expect(answer.output).toBe('done');
  return answer.attachments;
}

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const base64 = (text: string, encoding: BufferEncoding = 'utf8') =>
  Buffer.from(text, encoding).toString('base64');

test('[UN5] an answer that names a blob reads none of its bytes', async () => {
  const file = { media_type: 'image/png', blob_id: known.blob_id, name: 'a.png' };
  expect(await kept([file], blobs)).toEqual([{ ...known, name: 'a.png' }]);
});

test.each([
  ['no object', 5],
  ['no base64', { media_type: 'image/png', data: 'no base64 !!' }],
  ['no bytes', { media_type: 'text/plain', data: '' }],
  ['a blob that is nowhere', { media_type: 'image/png', blob_id: '../../callboard.db' }],
])('[BL19] one odd file of two loses itself, and the answer says so: %s', async (_, odd) => {
  const [png, note, ...others] = await kept([odd, { media_type: 'image/png', data: PNG }]);
  expect(others).toEqual([]);
  expect(png).toMatchObject({ media_type: 'image/png', width: 1 });
  expect(note).toMatchObject({
    name: 'files-not-kept.txt',
    text: expect.stringContaining('File 1: '),
  });
});

test.each([
  ['a buffer', { media_type: 'image/png', data: Buffer.from(PNG, 'base64').toJSON() }],
  ['an address of its own', { url: `data:image/png;base64,${PNG}` }],
])('[BL17] the bytes of a file are found in %s', async (_, file) => {
  expect(await kept([file])).toMatchObject([{ media_type: 'image/png', width: 1 }]);
});

test('[BL16] files of results count as uploads, and one beyond the quota is left out', async () => {
  const counted: number[] = [];
  const take = (bytes: number) => (counted.push(bytes) > 1 ? 60 : undefined);
  const sent = ['one', 'four'].map((text) => ({ media_type: 'text/plain', data: base64(text) }));
  const [first, note, ...others] = await kept(sent, undefined, take);
  expect([counted, first?.size, others]).toEqual([[3, 4], 3, []]);
  expect(note?.text).toContain('File 2: with this token no further 4 bytes may be uploaded');
});

test('[BL19] of nine files eight are kept, and the answer names the ninth', async () => {
  const files = await kept(
    Array.from({ length: 9 }, () => ({ media_type: 'image/png', data: PNG })),
  );
  expect(files.slice(0, 8).every(({ media_type }) => media_type === 'image/png')).toBe(true);
  expect(files[8]?.text).toContain('File 9: a result may have 8 files.');
});

test('[BL18] the text of a file of text goes along, in whatever character set it came', async () => {
  const files = [
    { media_type: 'text/csv', data: base64('a;b\n1;2') },
    { media_type: 'application/json', data: base64('{"a":1}') },
    { media_type: 'text/plain', data: base64('caf\xe9', 'latin1') },
    { media_type: 'application/octet-stream', data: base64('a log') },
  ];
  expect((await kept(files)).map(({ text }) => text)).toEqual([
    'a;b\n1;2',
    '{"a":1}',
    'café',
    'a log',
  ]);
});
