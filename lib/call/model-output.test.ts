import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Attachment } from '../protocol/attachment.ts';
import type { CallError } from '../protocol/call-status.ts';
import {
  type FinishedCall,
  MODEL_OUTPUT_BYTES,
  MODEL_OUTPUT_VERSION,
  toModelOutput,
} from './model-output.ts';

const succeeded = (result: unknown, attachments: Attachment[] = []): FinishedCall => ({
  tool_name: 'page.text',
  status: 'SUCCEEDED',
  result,
  error: null,
  attachments,
});

const failed = (error: CallError | null, status: FinishedCall['status'] = 'FAILED') => ({
  ...succeeded(undefined),
  status,
  error,
});

const png: Attachment = {
  blob_id: 'blob_1',
  media_type: 'image/png',
  size: 10,
  width: 1280,
  height: 720,
  alt: 'the page',
};

const textOf = (call: FinishedCall): string => toModelOutput(call).text;
const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

describe('a result', () => {
  test('[MO1] a string is told verbatim', () => {
    expect(textOf(succeeded('a "b"\n c'))).toBe('a "b"\n c');
  });

  test('[MO1] other JSON is told as JSON text', () => {
    expect(textOf(succeeded({ a: [1, true] }))).toBe('{"a":[1,true]}');
    expect(textOf(succeeded(0))).toBe('0');
  });

  test('[MO2] an empty string says that it is empty, null is null', () => {
    expect(textOf(succeeded(''))).toBe('(empty result)');
    expect(textOf(succeeded(null))).toBe('null');
    expect(textOf(succeeded(undefined))).toBe('null');
  });

  test('[MO3] a long text is cut at 32 KiB and says how much of it is there', () => {
    const text = textOf(succeeded('x'.repeat(40_000)));
    expect(bytesOf(text)).toBeLessThanOrEqual(MODEL_OUTPUT_BYTES);
    const kept = text.indexOf('\n');
    expect(text.slice(kept)).toBe(`\n[cut: ${kept} of 40000 characters]`);
    expect(kept).toBeGreaterThan(32_000);
  });

  test('[MO3] a text of exactly the limit is whole', () => {
    expect(textOf(succeeded('x'.repeat(MODEL_OUTPUT_BYTES)))).not.toContain('[cut');
  });

  test.each([0, 1, 2, 3])('[MO3] no character is split, shifted by %i bytes', (shift) => {
    const text = textOf(succeeded('x'.repeat(shift) + '😀'.repeat(20_000)));
    expect(text).not.toContain('\uFFFD');
    expect(bytesOf(text)).toBeLessThanOrEqual(MODEL_OUTPUT_BYTES);
  });
});

describe('a failure', () => {
  test('[MO4] is told as JSON with code, message and whether the tool ran', () => {
    const call = failed({ code: 'denied', message: 'not now', executed: 'no' });
    expect(textOf(call)).toBe('{"error":{"code":"denied","message":"not now","executed":"no"}}');
  });

  test('[MO4] a huge message stays JSON and within the limit', () => {
    const message = '\u0001"'.repeat(40_000);
    const text = textOf(failed({ code: 'tool_error', message, executed: 'yes' }));
    expect(bytesOf(text)).toBeLessThanOrEqual(MODEL_OUTPUT_BYTES);
    expect(JSON.parse(text).error.message).toContain('[cut: ');
  });

  test('[MO5] an unknown outcome does not claim that it failed', () => {
    const call = failed(
      { code: 'timeout', message: 'no answer in 30 s', executed: 'unknown' },
      'TIMEOUT',
    );
    expect(JSON.parse(textOf(call)).error).toEqual({
      code: 'timeout',
      message: 'Tool result unavailable; it may or may not have run. Check before repeating.',
      executed: 'unknown',
    });
  });

  test.each(['PENDING', 'RUNNING'] as const)('[MO5] a call that is %s is unknown', (status) => {
    expect(JSON.parse(textOf(failed(null, status))).error).toMatchObject({
      code: 'outcome_unknown',
      executed: 'unknown',
    });
  });
});

describe('attachments', () => {
  test('[MO6] an image is described and handed over', () => {
    const output = toModelOutput(succeeded('done', [png]));
    expect(output).toEqual({
      text: 'done\n[image 1 1280×720 image/png: the page]',
      cut: false,
      images: [png],
    });
  });

  test('[MO6] an image beside an empty text speaks for itself', () => {
    const { width, height, alt, ...bare } = png;
    expect(textOf(succeeded('', [bare]))).toBe('[image 1 image/png]');
  });

  test('[MO6] a long result does not push the description out', () => {
    const text = textOf(succeeded('x'.repeat(50_000), [png]));
    expect(text.endsWith('characters]\n[image 1 1280×720 image/png: the page]')).toBe(true);
    expect(bytesOf(text)).toBeLessThanOrEqual(MODEL_OUTPUT_BYTES);
  });

  test('[MO7] another file is described only', () => {
    const file = { blob_id: 'blob_2', media_type: 'application/pdf', size: 7, name: 'a.pdf' };
    const output = toModelOutput(succeeded('ok', [file, png]));
    expect(output.text).toBe(
      'ok\n[file application/pdf 7 bytes: a.pdf]\n[image 1 1280×720 image/png: the page]',
    );
    expect(output.images).toEqual([png]);
  });
});

describe('hidden text', () => {
  const hidden = [
    '\u{E0041}',
    '\u200B',
    '\u2060',
    '\u2064',
    '\uFEFF',
    '\u202E',
    '\u2066',
    '\u061C',
  ];

  test.each(hidden)('[MO8] %j is taken out everywhere', (character) => {
    expect(textOf(succeeded(`a${character}b`))).toBe('ab');
    expect(textOf(succeeded({ [`k${character}`]: `a${character}b` }))).toBe('{"k":"ab"}');
    const error: CallError = { code: 'tool_error', message: `a${character}b`, executed: 'yes' };
    expect(JSON.parse(textOf(failed(error))).error.message).toBe('ab');
    expect(textOf(succeeded('', [{ ...png, alt: `a${character}b` }]))).toContain(': ab]');
  });

  test('[MO8] a text that is hidden as a whole is an empty result', () => {
    expect(textOf(succeeded('\u200B\u{E0041}'))).toBe('(empty result)');
  });

  test('[MO8] emoji that are joined stay joined', () => {
    expect(textOf(succeeded('👩‍💻 ok'))).toBe('👩‍💻 ok');
  });
});

describe('the version', () => {
  const pdf: Attachment = { blob_id: 'blob_2', media_type: 'application/pdf', size: 7 };
  const error: CallError = { code: 'tool_error', message: 'm\u200b"x"', executed: 'yes' };
  /** Each branch of the rendering, with and without a cut. */
  const calls: FinishedCall[] = [
    succeeded('text\u202e'),
    succeeded(''),
    succeeded({ a: [1, null], b: '😀' }),
    succeeded('x'.repeat(40_000)),
    succeeded('x'.repeat(40_000), [png, pdf]),
    succeeded('', [png]),
    failed(error),
    failed({ ...error, message: '"\u0001'.repeat(20_000) }),
    failed({ ...error, executed: 'unknown' }),
    failed(null, 'RUNNING'),
  ];

  test('[MO9] another text of any record is another version, whose number stands here', () => {
    const outputs = calls.map((call) => toModelOutput(call));
    expect(outputs.filter(({ cut }) => cut)).toHaveLength(3);
    const sha256 = createHash('sha256').update(JSON.stringify(outputs)).digest('hex');
    expect({ version: MODEL_OUTPUT_VERSION, sha256 }).toEqual({
      version: 1,
      sha256: '51507eb6869e1f9015d2c34e8fc8e0321df8e8ceffae7c81de45175c47b12c0b',
    });
  });
});
