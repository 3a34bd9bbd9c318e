import { expect, test } from 'vitest';
import type { Attachment } from '#lib/protocol/attachment';
import type { BlobStore } from '../blobs/blob-store.ts';
import { storeAttachments } from './store-attachments.ts';

const known: Attachment = { blob_id: `blob_${'a'.repeat(40)}`, media_type: 'image/png', size: 7 };
const unused = () => Promise.reject(new Error('the bytes are not needed'));
const blobs: BlobStore = {
  put: unused,
  read: unused,
  find: async (id) => (id === known.blob_id ? known : undefined),
};

test('[UN5] an answer that names a blob reads none of its bytes', async () => {
  const answer = (blob_id: string) =>
    storeAttachments(
      {
        ...{ type: 'tool_result', id: 'tc_1', output: 'done' },
        attachments: [{ media_type: 'image/png', blob_id, name: 'a.png' }],
      },
      blobs,
    );
  expect(await answer(known.blob_id)).toMatchObject({
    ok: true,
    attachments: [{ ...known, name: 'a.png' }],
  });
  expect(await answer('blob_b')).toMatchObject({ ok: 'unusable', code: 'result_invalid' });
});
