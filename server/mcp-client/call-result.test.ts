import { expect, test } from 'vitest';
import { tempDir } from '#lib/testing/temp-dir';
import { createDiskBlobStore } from '../blobs/disk-blob-store.ts';
import { createAttachedFiles } from '../calls/inside-executor.ts';
import { ToolError } from '../tools/define-tool.ts';
import { toAnswer } from './call-result.ts';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const FACT = 'The harbour opens at seven.';
const resource = (more: object = {}) => ({
  type: 'resource',
  resource: { uri: 'repo://o/README.md', mimeType: 'text/plain', text: FACT, ...more },
});

/** What people and models get of a result. */
async function read(result: unknown) {
  const blobs = createDiskBlobStore({ dir: tempDir() });
  const { attach, attached } = createAttachedFiles(blobs, new AbortController().signal);
  const answer = await toAnswer(result, attach).catch((error: unknown) => {
    if (!(error instanceof ToolError)) throw error;
    return { error: error.message, output: undefined };
  });
  return { ...answer, files: attached() };
}

test.each([
  ['of text', {}],
  ['of Markdown', { mimeType: 'text/markdown' }],
  ['without a type', { mimeType: undefined }],
  ['with a type that is none', { mimeType: 5 }],
  ['as base64', { text: undefined, blob: Buffer.from(FACT).toString('base64') }],
])('[MC30] a model reads the text of an embedded resource %s', async (_, more) => {
  const { files } = await read({ content: [{ type: 'text', text: 'downloaded' }, resource(more)] });
  expect(files).toMatchObject([{ name: 'README.md', text: FACT }]);
});

test.each([
  ['a data: URI', { type: 'image', data: `data:image/png;base64,${PNG}` }],
  ['lines', { type: 'image', data: PNG.replace(/(.{40})/g, '$1\n'), mimeType: 'image/png' }],
  ['another name', { type: 'image', data: PNG, mimeType: 'image/jpg' }],
  ['a source', { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }],
  ['an image_url', { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }],
  ['a link', { type: 'resource_link', uri: `data:image/png;base64,${PNG}` }],
  ['the address of a resource', resource({ uri: `data:image/png;base64,${PNG}`, text: undefined })],
  ['a buffer', { type: 'image', data: Buffer.from(PNG, 'base64').toJSON() }],
  ['a list of bytes', { type: 'image', data: [...Buffer.from(PNG, 'base64')] }],
  ['inlineData', { inlineData: { mimeType: 'image/png', data: PNG } }],
  ['a field named base64', { type: 'image', base64: PNG }],
])('[MC30] a picture in %s is a picture', async (_, block) => {
  expect(await read({ content: [{ type: 'text', text: 'seen' }, block] })).toMatchObject({
    ...{ output: 'seen', files: [{ media_type: 'image/png', width: 1 }] },
  });
});

test.each([
  ['text', { content: [{ type: 'text', text: FACT }] }],
  ['a resource', { content: [resource()] }],
  ['structured content', { content: [], structuredContent: { message: FACT } }],
  [
    'structured content beside a text',
    {
      content: [{ type: 'text', text: 'Failed' }],
      structuredContent: { code: 5, error: { detail: FACT } },
    },
  ],
  ['an odd field', { error: { message: FACT } }],
])('[MC31] the reason of a failure is found in %s', async (_, result) => {
  expect(await read({ ...result, isError: true })).toMatchObject({
    error: expect.stringContaining(FACT),
  });
});

test.each([true, 1, 'true'])(
  '[MC31] a failure, by isError: %j, keeps its pictures',
  async (isError) => {
    const content = [
      { type: 'text', text: FACT },
      { type: 'image', data: PNG },
    ];
    expect(await read({ content, isError })).toEqual({
      error: FACT,
      output: undefined,
      files: [expect.objectContaining({ media_type: 'image/png' })],
    });
  },
);

test('[MC30] of files the odd ones lose themselves, and take no room', async () => {
  const pictures = Array.from({ length: 8 }, () => ({ type: 'image', data: PNG }));
  const { output, files } = await read({ content: [{ type: 'image', data: '!' }, ...pictures] });
  expect(files).toHaveLength(8);
  expect(output).toEqual({ attachments_left_out: 1 });
});

test('[MC31] a failure that is nested without an end is a failed call', async () => {
  const deep: unknown = JSON.parse(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`);
  expect(await read({ isError: true, structuredContent: deep })).toMatchObject({
    error: expect.stringContaining('larger than what is kept'),
  });
});
