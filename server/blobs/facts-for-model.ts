import { cutToBytes } from '#lib/json/cut-to-bytes';
import type { Attachment } from '#lib/protocol/attachment';
import { scaleForModel } from './scale-image.ts';
import { isText, sniffMediaType } from './sniff-media-type.ts';

/** Of one file, as UTF-8, in a record. */
const TEXT_BYTES = 16 * 1024;

type Facts = Pick<Attachment, 'text' | 'text_cut' | 'unreadable'>;

/** What a model reads of a file, or why it is not shown it (BL18). */
export async function factsForModel(mediaType: string, bytes: Uint8Array): Promise<Facts> {
  if (mediaType.startsWith('image/')) {
    const scaled = await scaleForModel(bytes);
    return scaled.ok ? {} : { unreadable: scaled.message };
  }
  if (sniffMediaType(bytes) !== undefined && !mediaType.startsWith('text/')) return {};
  if (!isText(bytes)) return {};
  // A few bytes more than are kept: the last character may be cut.
  const whole = new TextDecoder().decode(bytes.subarray(0, TEXT_BYTES + 4));
  const text = cutToBytes(whole, TEXT_BYTES);
  return { text, ...(bytes.length > TEXT_BYTES && { text_cut: true as const }) };
}
