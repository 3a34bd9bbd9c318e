import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { isRecord } from '#lib/json/is-record';
import { jsonText } from '#lib/json/json-text';

/** A handler returns this, before it is bytes. */
export type HttpResponse =
  | {
      readonly status: number;
      readonly json: unknown;
      readonly headers?: OutgoingHttpHeaders;
      /** An object of which a field may be long. */
      readonly isLong?: boolean;
    }
  | {
      readonly status: number;
      readonly body: string | Uint8Array;
      readonly headers: OutgoingHttpHeaders;
    }
  /** Writes without a limit of time, and ends the response or leaves that to the caller. */
  | {
      readonly status: number;
      readonly stream: (outgoing: ServerResponse) => void;
      readonly headers: OutgoingHttpHeaders;
    };

/** On everything that is not a page: data is not cached, not sniffed, and runs nothing. */
const DATA_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/** The same in the form that Node takes quickest, of JSON without headers of its own; the length is still to come. */
const JSON_HEADERS = [
  ...Object.entries(DATA_HEADERS).flat(),
  ...['content-type', 'application/json', 'content-length'],
];

/** What was asked for is done, and there is no more to say. */
export const OK = { ok: true } as const;

export const json = (status: number, value: unknown): HttpResponse => ({ status, json: value });

/** Times of the wire are in seconds. */
export const toSeconds = (ms: number | null): number | null => (ms === null ? null : ms / 1_000);

/** The only place that makes the text of a response, once. */
export function writeResponse(outgoing: ServerResponse, answer: HttpResponse): void {
  // The caller hung up while it waited.
  if (outgoing.destroyed || outgoing.headersSent) return;
  if ('stream' in answer) {
    outgoing.writeHead(answer.status, { ...DATA_HEADERS, ...answer.headers });
    // A stream that sends nothing would have no end.
    if (outgoing.req.method === 'HEAD') outgoing.end();
    else answer.stream(outgoing);
    return;
  }
  const whole = 'json' in answer ? textOf(answer.json, answer.isLong) : answer.body;
  const body = whole.length > LARGE_LENGTH ? Buffer.from(whole) : whole;
  const length = Buffer.byteLength(body);
  if ('json' in answer && !answer.headers) {
    outgoing.writeHead(answer.status, [...JSON_HEADERS, length]);
  } else {
    const type = 'json' in answer ? { 'content-type': 'application/json' } : undefined;
    const headers = { ...DATA_HEADERS, ...type, ...answer.headers, 'content-length': length };
    outgoing.writeHead(answer.status, headers);
  }
  if (Buffer.isBuffer(body) && outgoing.req.method !== 'HEAD') return writeInSlices(outgoing, body);
  // A string goes out in one write with its head, a copy of a buffer does not.
  outgoing.end(body);
}

const textOf = (value: unknown, isLong = false): string | Buffer =>
  isLong && isRecord(value) ? fieldByField(value) : JSON.stringify(value);

/**
 * A text has two bytes for each character in memory as soon as one character needs them, such as the
 * ellipsis of a preview. So a long field is never joined with the others before it is UTF-8.
 */
function fieldByField(record: Readonly<Record<string, unknown>>): Buffer {
  const texts = ['{'];
  for (const [name, value] of Object.entries(record)) {
    const text = value === undefined ? undefined : jsonText(value);
    if (text !== undefined) texts.push(`${texts.length > 1 ? ',' : ''}"${name}":`, text);
  }
  texts.push('}');
  const bytes = Buffer.allocUnsafe(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0));
  let at = 0;
  for (const text of texts) at += bytes.write(text, at);
  return bytes;
}

/** In bytes, or characters of a text. */
const LARGE_LENGTH = 256 * 1024;
const SLICE_BYTES = 64 * 1024;

/** Its reader takes slices: one of them waits in the socket, and others are served in between. */
function writeInSlices(outgoing: ServerResponse, body: Buffer, from = 0): void {
  for (let at = from; at < body.length; ) {
    const slice = body.subarray(at, at + SLICE_BYTES);
    at += slice.length;
    if (outgoing.write(slice)) continue;
    return void outgoing.once('drain', () => writeInSlices(outgoing, body, at));
  }
  outgoing.end();
}
