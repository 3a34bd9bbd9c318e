import { isUtf8 } from 'node:buffer';
import { readJson } from '#lib/json/parse-json';
import { hasReadableSize, readImageSize } from './read-image-size.ts';

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

/** Other names of types that their bytes show, and types of one container. */
const SAME_AS: Readonly<Record<string, string>> = {
  'image/heif': 'image/heic',
  'image/x-ms-bmp': 'image/bmp',
  'image/x-bmp': 'image/bmp',
  'audio/mp3': 'audio/mpeg',
  'audio/wave': 'audio/wav',
  'audio/x-wav': 'audio/wav',
  'audio/mp4': 'video/mp4',
  'audio/webm': 'video/webm',
  'video/ogg': 'audio/ogg',
  'application/ogg': 'audio/ogg',
};

/** Types whose bytes must begin with their mark. */
const MARKED = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'audio/wav',
  'audio/ogg',
  'audio/mpeg',
  'video/mp4',
  'video/webm',
  'application/pdf',
]);

/** Says nothing of the bytes. */
export const UNSPECIFIC = 'application/octet-stream';

const INLINE = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']);

/**
 * True for what a browser may show in its place: pictures made of pixels, which
 * cannot run anything. All else, SVG and HTML above all, is only ever downloaded.
 */
export const isInlineMediaType = (mediaType: string): boolean => INLINE.has(mediaType);

/** Lower case and without parameters; undefined when it is not a media type at all. */
export function parseMediaType(text: string): string | undefined {
  const [essence = ''] = text.toLowerCase().split(';');
  const type = essence.trim();
  if (!/^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}$/.test(type))
    return undefined;
  return type === 'image/jpg' ? 'image/jpeg' : type; // A common slip, which models refuse.
}

const commonName = (type: string): string =>
  (Object.hasOwn(SAME_AS, type) && SAME_AS[type]) || type;

export const isSameType = (one: string, other: string): boolean =>
  commonName(one) === commonName(other);

/**
 * The reason why the bytes are not of `mediaType`; undefined when they are, or
 * when the type is one that cannot be checked, which is then only downloaded.
 */
export function findMismatch(mediaType: string, bytes: Uint8Array): string | undefined {
  const expected = commonName(mediaType);
  if (MARKED.has(expected)) return findWrongMark(mediaType, expected, bytes);
  if (mediaType === 'text/plain' && (!isUtf8(bytes) || bytes.includes(0))) {
    return 'the bytes are not text in UTF-8; send them as application/octet-stream';
  }
  if (mediaType === 'application/json' && !isJson(bytes)) {
    return 'the bytes are not JSON; send them as text/plain or application/octet-stream';
  }
  return undefined;
}

function findWrongMark(mediaType: string, expected: string, bytes: Uint8Array) {
  const found = sniffMediaType(bytes);
  if (found !== expected) {
    return `the bytes are not ${mediaType}; they ${found ? `begin like ${found}` : 'begin like no known type'}`;
  }
  if (hasReadableSize(expected) && !readImageSize(expected, bytes)) {
    return `the bytes begin like ${mediaType}, but there is no picture in them`;
  }
  return undefined;
}

/** Reading a longer one whole would hold up all else: how it begins and ends has to suffice. */
const MOST_PARSED_BYTES = 256 * 1024;
const BEGIN_AND_END = /^\s*(?:\{.*\}|\[.*\]|".*")\s*$/s;

function isJson(bytes: Uint8Array): boolean {
  if (!isUtf8(bytes)) return false;
  if (bytes.length > MOST_PARSED_BYTES) {
    const text = (part: Uint8Array) => new TextDecoder().decode(part);
    return BEGIN_AND_END.test(text(bytes.subarray(0, 64)) + text(bytes.subarray(-64)));
  }
  return readJson(new TextDecoder().decode(bytes)) !== undefined;
}
