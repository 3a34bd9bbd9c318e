import { isUtf8 } from 'node:buffer';
import { isRecord } from '#lib/json/is-record';
import { given } from '#lib/util/given';
import type { BlobUpload } from './disk-blob-store.ts';
import {
  findMismatch,
  isSameType,
  isSvg,
  isText,
  parseMediaType,
  sniffMediaType,
  UNSPECIFIC,
} from './media-type.ts';

/** A file as programs of others send it: base64 of any spelling, or a `data:` URI. */
export interface ForeignFile {
  readonly data: string;
  /** Its data is what it says. */
  readonly isText?: boolean;
  readonly mediaType?: string | undefined;
  readonly name?: string | undefined;
  readonly alt?: string | undefined;
}

/** Reads what is to be kept of it; undefined where its data is nothing that can be read (BL17). */
export function readForeignFile(file: ForeignFile): BlobUpload | undefined {
  const { data, isText: isPlain = false, mediaType, ...more } = file;
  const uri = isPlain ? null : DATA_URI.exec(data.slice(0, LONGEST_HEAD));
  const body = uri ? data.slice(uri[0].length) : data;
  const isWritten = isPlain || (uri !== null && uri[2] === undefined);
  const named = mediaType || uri?.[1] || UNSPECIFIC;
  const isWords = TEXT.test(parseMediaType(named) ?? '');
  const bytes = isWritten
    ? fromText(body, isPlain)
    : (fromBase64(body) ?? (isWords ? fromText(body, true) : undefined));
  return bytes && settleType({ bytes, mediaType: named, ...given(more) });
}

const LONGEST_HEAD = 256;
const DATA_URI = /^\s*data:([^,]*?)(;base64)?,/i;

function fromText(text: string, isPlain: boolean): Buffer | undefined {
  try {
    return Buffer.from(isPlain ? text : decodeURIComponent(text));
  } catch {
    return undefined; // A percent sign stands for itself in no URI.
  }
}

/** Node takes lines, both alphabets and no padding; what is none of these it would skip. */
function fromBase64(text: string): Buffer | undefined {
  const end = text.indexOf('=');
  const body = end < 0 ? text : text.slice(0, end);
  const padding = end < 0 ? '' : text.slice(end, end + 8);
  if (/[^\w+/\s-]/.test(body) || !/^[=\s]{0,7}$/.test(padding)) return undefined;
  return Buffer.from(body, 'base64');
}

/** The bytes decide what it is; text is in UTF-8 then, and what nothing says is of no type. */
function settleType({ bytes, mediaType, ...more }: BlobUpload): BlobUpload {
  const named = parseMediaType(mediaType) ?? UNSPECIFIC;
  const as = (type: string, content = bytes) => ({ ...more, mediaType: type, bytes: content });
  // Two bytes of UTF-16 look like a sound.
  const found = markOf(bytes) && TEXT.test(named) ? undefined : sniffMediaType(bytes);
  if (found !== undefined && findMismatch(found, bytes) === undefined) {
    return as(isSameType(named, found) || (TEXT.test(named) && isText(bytes)) ? named : found);
  }
  if (/^image\/|[/+]xml$|octet-stream$/.test(named) && isSvg(bytes)) return as('image/svg+xml');
  const text = TEXT.test(named) ? decodeText(bytes, mediaType) : bytes;
  if (named !== UNSPECIFIC && findMismatch(named, text) === undefined) return as(named, text);
  return as(isText(text) ? 'text/plain' : UNSPECIFIC, text);
}

/** Types that are text, whatever their bytes look like. */
const TEXT = /^text\/|[/+](?:json|xml|csv|yaml|toml|x-yaml|javascript|x-ndjson|sql)$/;

/** Text has the character set that the type names or the bytes begin with, else that of Windows. */
function decodeText(bytes: Uint8Array, mediaType: string): Uint8Array {
  if (isText(bytes)) return bytes;
  const [, named = ''] = /charset="?([\w.:-]{1,40})/i.exec(mediaType) ?? [];
  const label = markOf(bytes) ?? (isUtf8(bytes) || isUnknown(named) ? 'windows-1252' : named);
  const text = Buffer.from(new TextDecoder(label).decode(bytes));
  return isText(text) ? text : bytes;
}

const markOf = ([first, second]: Uint8Array): string | undefined => {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
};

function isUnknown(label: string): boolean {
  try {
    new TextDecoder(label);
    return /^utf-?8$/i.test(label);
  } catch {
    return true;
  }
}

/** Where the forms of MCP, OpenAI, Anthropic and AG-UI have a file, or what says more of it. */
const HOLDERS = ['source', 'image_url', 'input_audio', 'file', 'image', 'inlineData'];
const DATA = 'data file_data blob base64 value image_url image url src file_url'.split(' ');
const KINDS = /image|audio|video|file|document|binary/i;
const IS_DATA_URI = /^\s*data:/i;
const TYPES = ['mimeType', 'mime_type', 'media_type', 'mediaType'];

/** The file in a part of content; `url` where it lies elsewhere, which nothing here fetches. */
export function findFile(part: Record<string, unknown>): ForeignFile | { url: string } | undefined {
  const places = [...HOLDERS.flatMap((name) => (isRecord(part[name]) ? [part[name]] : [])), part];
  const textOf = (names: readonly string[]) =>
    places.flatMap((place) => names.flatMap((name) => asText(place[name]) ?? []));
  const found = textOf(DATA);
  const data = found.find((text) => !isAddress(text));
  const [url] = found;
  if (data === undefined) return url === undefined ? undefined : { url };
  const [mediaType] = textOf(TYPES);
  const isFile = mediaType !== undefined || KINDS.test(String(part.type)) || IS_DATA_URI.test(data);
  if (!isFile) return undefined;
  const [name] = textOf(['filename', 'name']);
  return { data, ...given({ mediaType, name: name?.slice(0, 128).toWellFormed() }) };
}

const isAddress = (text: string): boolean =>
  /^\s*(?!data:)[a-z][a-z\d+.-]*:/i.test(text.slice(0, 64));

/** Bytes that were written as JSON are a list, or a list under `data`. */
function asText(value: unknown): string | undefined {
  const list = isRecord(value) ? value.data : value;
  if (Array.isArray(list) && list.every(Number.isInteger))
    return Buffer.from(list).toString('base64');
  return textIn(value);
}

export const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
