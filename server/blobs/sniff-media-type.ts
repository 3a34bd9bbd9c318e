import { isUtf8 } from 'node:buffer';

/** Bytes that a file of a type begins with; `at` when that is not the very beginning. */
interface Mark {
  readonly at?: number;
  readonly text: string;
}

/** `text` is Latin-1, so that every byte is one character. */
const MARKS: readonly (readonly [string, ...Mark[]])[] = [
  ['image/png', { text: '\x89PNG\r\n\x1a\n' }],
  ['image/jpeg', { text: '\xff\xd8\xff' }],
  ['image/gif', { text: 'GIF87a' }],
  ['image/gif', { text: 'GIF89a' }],
  ['image/webp', { text: 'RIFF' }, { at: 8, text: 'WEBP' }],
  ['image/avif', { at: 4, text: 'ftypavif' }],
  ['image/avif', { at: 4, text: 'ftypavis' }],
  ['image/heic', { at: 4, text: 'ftyphei' }],
  ['image/heic', { at: 4, text: 'ftyphev' }],
  ['image/heic', { at: 4, text: 'ftypmif1' }],
  ['image/tiff', { text: 'II*\0' }],
  ['image/tiff', { text: 'MM\0*' }],
  ['image/bmp', { text: 'BM' }, { at: 6, text: '\0\0\0\0' }],
  ['audio/wav', { text: 'RIFF' }, { at: 8, text: 'WAVE' }],
  ['audio/ogg', { text: 'OggS' }],
  ['audio/mpeg', { text: 'ID3' }],
  ['video/mp4', { at: 4, text: 'ftyp' }], // After pictures of the same family.
  ['video/webm', { text: '\x1a\x45\xdf\xa3' }],
  ['application/pdf', { text: '%PDF-' }],
];

const LONGEST = 12;

/** The type whose mark the bytes begin with; undefined when there is none that is known. */
export function sniffMediaType(bytes: Uint8Array): string | undefined {
  const start = latin1(bytes.subarray(0, LONGEST));
  const found = MARKS.find(([, ...marks]) =>
    marks.every(({ at = 0, text }) => start.startsWith(text, at)),
  );
  if (found?.[0] === 'image/heic' && latin1(bytes.subarray(0, 64)).includes('avif')) {
    return 'image/avif';
  }
  return found?.[0] ?? (isMp3Frame(bytes) ? 'audio/mpeg' : undefined);
}

/** An MP3 without a tag begins with a frame: eleven bits set, and no reserved version or layer. */
function isMp3Frame(bytes: Uint8Array): boolean {
  const [first = 0, second = 0] = bytes;
  return (
    first === 0xff && (second & 0xe0) === 0xe0 && (second & 0x18) !== 0x08 && (second & 0x06) !== 0
  );
}

/** Text as people read it, in UTF-8: of what cannot be seen at its beginning blanks and escapes alone. */
export const isText = (bytes: Uint8Array): boolean =>
  isUtf8(bytes) && !bytes.includes(0) && bytes.subarray(0, 4_096).every(isReadable);

const isReadable = (byte: number): boolean => byte > 0x1a || (byte > 0x07 && byte < 0x0e);

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

/** An SVG has no mark: it is text with its element at the beginning. */
export const isSvg = (bytes: Uint8Array): boolean =>
  /^\s*(?:<\?xml|<!--|<!DOCTYPE\s+svg|<svg[\s>])/i.test(latin1(bytes.subarray(0, 256))) &&
  /<svg[\s>]/i.test(latin1(bytes.subarray(0, 8_192)));
