import { isRecord } from '#lib/json/is-record';
import { given } from '#lib/util/given';
import type { ForeignFile } from './foreign-file.ts';

/** Where the forms of MCP, OpenAI, Anthropic and AG-UI have a file, or what says more of it. */
const HOLDERS = ['source', 'image_url', 'input_audio', 'file', 'image', 'inlineData'];
const DATA = 'data file_data blob base64 value image_url image url src file_url'.split(' ');
const KINDS = /image|audio|video|file|document|binary/i;
const DATA_URI = /^\s*data:/i;
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
  const isFile = mediaType !== undefined || KINDS.test(String(part.type)) || DATA_URI.test(data);
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
