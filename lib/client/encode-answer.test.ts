import { expect, test } from 'vitest';
import type { ClientToolAnswer } from './client-tool.ts';
import { encodeAnswer, INLINE_BYTES } from './encode-answer.ts';

const call = { id: 'tc_1', attempt: 2 };
const image = (size: number) => ({
  blob: new Uint8Array(size),
  mediaType: 'image/png',
  name: 'page.png',
});

function setup({ fail = false } = {}) {
  const [uploaded, problems]: [number[], string[]] = [[], []];
  const uploadBlob = async ({ bytes }: { bytes: Uint8Array }) => {
    if (fail) throw new Error('no network');
    uploaded.push(bytes.length);
    return 'blob_1';
  };
  return {
    uploaded,
    problems,
    options: { uploadBlob, onProblem: (text: string) => problems.push(text) },
  };
}

test('[CL19] a small attachment travels in the message', async () => {
  const { options, uploaded } = setup();
  const answer = await encodeAnswer(call, { output: 'ok', attachments: [image(3)] }, options);
  expect(answer).toEqual({
    type: 'tool_result',
    id: 'tc_1',
    attempt: 2,
    success: true,
    output: 'ok',
    attachments: [{ media_type: 'image/png', name: 'page.png', data: 'AAAA' }],
  });
  expect(uploaded).toEqual([]);
});

test('[CL19] from 256 KiB on it is uploaded', async () => {
  const { options, uploaded } = setup();
  const attachments = [
    image(INLINE_BYTES - 1),
    { ...image(0), blob: new Blob([new Uint8Array(INLINE_BYTES)]) },
  ];
  const answer = await encodeAnswer(call, { output: 'ok', attachments }, options);
  expect(uploaded).toEqual([INLINE_BYTES]);
  expect(answer).toMatchObject({
    attachments: [{ data: expect.any(String) }, { blob_id: 'blob_1' }],
  });
});

test('[CL19] when uploading fails it travels in the message', async () => {
  const { options, problems } = setup({ fail: true });
  const answer = await encodeAnswer(
    call,
    { output: 'ok', attachments: [image(INLINE_BYTES)] },
    options,
  );
  expect(answer).toMatchObject({ attachments: [{ data: expect.any(String) }] });
  expect(problems).toEqual([expect.stringContaining('no network')]);
});

test.each([
  ['a circle', circle(), 'internal'],
  ['a bigint', 1n, 'internal'],
  ['a function', () => {}, 'internal'],
  ['9 MiB of text', 'x'.repeat(9 * 1024 * 1024), 'result_too_large'],
])('[CL19] %s as output is a failure', async (_, output, code) => {
  await expect(encodeAnswer(call, { output }, setup().options)).rejects.toMatchObject({ code });
});

test('[CL19] what does not fit a frame with its attachments is a failure', async () => {
  const { options } = setup({ fail: true });
  const attachments = [image(8_000_000), image(8_000_000)];
  const encoding = encodeAnswer(call, { output: 'ok', attachments }, options);
  await expect(encoding).rejects.toMatchObject({ code: 'result_too_large' });
});

test.each([
  ['nested too deep', JSON.parse(`${'['.repeat(70)}${']'.repeat(70)}`)],
  ['of too many values', Array.from({ length: 200_001 }, () => 0)],
  ['with a key __proto__', JSON.parse('{"__proto__": {"a": 1}}')],
])('[CL29] a result %s is a failure', async (_, output) => {
  await expect(encodeAnswer(call, { output }, setup().options)).rejects.toMatchObject({
    code: 'internal',
    message: expect.stringContaining('cannot be sent'),
  });
});

test.each<[string, unknown, string]>([
  ['nothing', undefined, 'returned nothing'],
  ['a bare text', 'open', 'without "output"'],
  ['a bare object', { door: 'open' }, 'without "output"'],
  ['a list', ['open'], 'without "output"'],
])('[CL39] a tool that returns %s fails, and reads what to return', async (_, given, what) => {
  const encoding = encodeAnswer(call, given as ClientToolAnswer, setup().options);
  await expect(encoding).rejects.toMatchObject({
    code: 'internal',
    message: expect.stringMatching(new RegExp(`${what}.*\\{ output: … \\}`)),
  });
});

test('[CL19] no output is null', async () => {
  const answer = await encodeAnswer(call, { output: undefined }, setup().options);
  expect(answer).toMatchObject({ output: null });
});

function circle(): unknown {
  const own: Record<string, unknown> = {};
  own.self = own;
  return own;
}
