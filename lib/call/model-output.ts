import { cutAndMark } from '../json/cut-to-bytes.ts';
import type { Attachment } from '../protocol/attachment.ts';
import type { CallError, CallStatus } from '../protocol/call-status.ts';
import { isFinalStatus } from '../protocol/is-final-status.ts';
import { stripInvisible } from '../text/invisible.ts';
import type { CallRecord } from './call-record.ts';

/** What of a final call matters to a model. The wire's record fits as it is. */
export interface FinishedCall {
  readonly tool_name: string;
  readonly status: CallStatus;
  readonly result: unknown;
  readonly error: CallError | null;
  readonly attachments: readonly Attachment[];
}

export interface ModelOutput {
  readonly text: string;
  /** The text is the beginning of a longer one. */
  readonly cut: boolean;
  /** Pictures that may be shown to a model beside the text, which describes each of them. */
  readonly images: Attachment[];
}

/**
 * Stored with the hash of each text that was sent. Any change of the text that a record becomes
 * needs the next number (rule MO9).
 */
export const MODEL_OUTPUT_VERSION = 1;

/** Bytes of UTF-8. A model pays for every one of them again in each later step. */
export const MODEL_OUTPUT_BYTES = 32 * 1024;

const UNKNOWN_OUTCOME =
  'Tool result unavailable; it may or may not have run. Check before repeating.';

const ALT_CHARS = 300;

/**
 * What the model is told of a call (rules MO1 to MO8). The agent loop sends
 * this and the card's "what the model got" shows this, so the two cannot differ.
 */
export function toModelOutput(call: FinishedCall): ModelOutput {
  if (call.status !== 'SUCCEEDED') return { ...describeFailure(call), images: [] };
  const images = call.attachments.filter((one) => one.media_type.startsWith('image/'));
  const notes = describeAttachments(call.attachments);
  const body = stripInvisible(resultText(call.result));
  if (notes === '') return { ...cutTo(body || '(empty result)', MODEL_OUTPUT_BYTES), images };
  if (body === '') return { text: notes, cut: false, images };
  const room = MODEL_OUTPUT_BYTES - new TextEncoder().encode(notes).length - 1;
  const { text, cut } = cutTo(body, room);
  return { text: `${text}\n${notes}`, cut, images };
}

/** What a model is sent of a call as it is stored; of one that is not there the neutral words. */
export const outputOfRecord = (record: CallRecord | undefined): ModelOutput =>
  toModelOutput({
    tool_name: record?.toolName ?? 'unknown_tool',
    status: record?.status ?? 'PENDING',
    result: record?.result,
    error: record && isFinalStatus(record.status) ? record.error : null,
    attachments: record?.attachments ?? [],
  });

function cutTo(whole: string, maxBytes: number) {
  const text = cutAndMark(whole, maxBytes);
  return { text, cut: text !== whole };
}

const resultText = (result: unknown): string =>
  typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null');

function describeFailure(call: FinishedCall): Pick<ModelOutput, 'text' | 'cut'> {
  const error = publicError(call);
  const wrap = (message: string) => JSON.stringify({ error: { ...error, message } });
  // The marker of a cut must lie inside the JSON, and quoting can make text longer than it was.
  const room = (MODEL_OUTPUT_BYTES - new TextEncoder().encode(wrap('')).length) / 6;
  const message = stripInvisible(error.message);
  const whole = wrap(message);
  const fits = new TextEncoder().encode(whole).length <= MODEL_OUTPUT_BYTES;
  return fits
    ? { text: whole, cut: false }
    : { text: wrap(cutAndMark(message, Math.floor(room))), cut: true };
}

function publicError(call: FinishedCall): Pick<CallError, 'code' | 'message' | 'executed'> {
  if (!isFinalStatus(call.status) || !call.error || call.error.executed === 'unknown') {
    const code = call.error?.code ?? 'outcome_unknown';
    return { code, message: UNKNOWN_OUTCOME, executed: 'unknown' };
  }
  const { code, message, executed } = call.error;
  return { code, message, executed };
}

function describeAttachments(attachments: readonly Attachment[]): string {
  let images = 0;
  const lines = attachments.map((one) => {
    const words = oneLine(one.alt ?? one.name ?? '');
    const suffix = words === '' ? '' : `: ${words}`;
    if (!one.media_type.startsWith('image/')) {
      return `[file ${oneLine(one.media_type)} ${one.size} bytes${suffix}]`;
    }
    images += 1;
    const size = one.width && one.height ? ` ${one.width}×${one.height}` : '';
    return `[image ${images}${size} ${oneLine(one.media_type)}${suffix}]`;
  });
  return lines.join('\n');
}

const oneLine = (text: string): string =>
  Array.from(stripInvisible(text).replace(/\s+/g, ' ').trim()).slice(0, ALT_CHARS).join('');
