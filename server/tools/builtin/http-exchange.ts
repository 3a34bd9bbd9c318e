import { type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { pipeline, type Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { TOOL_VIA } from '#lib/protocol/sent-by-tool';
import { ToolError } from '../define-tool.ts';
import type { HttpTarget } from './http-targets.ts';

export interface HttpExchange {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Decoded, and cut at the limit. */
  readonly body: Buffer;
  readonly truncated: boolean;
}

export interface HttpSending {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/**
 * Sends one request over a connection of its own to an address of the target, and reads
 * what comes back. Follows no redirect, uses no proxy, and sends nothing but what is given.
 */
export async function exchange(target: HttpTarget, sending: HttpSending): Promise<HttpExchange> {
  const response = await send(target, sending);
  try {
    const { statusCode = 0, headers } = response;
    return { status: statusCode, headers, ...(await readBody(response, sending.maxBytes)) };
  } finally {
    response.destroy();
  }
}

function send(target: HttpTarget, sending: HttpSending): Promise<IncomingMessage> {
  const { method, headers, body, signal } = sending;
  const { url, addresses } = target;
  const options: RequestOptions = {
    method,
    signal,
    // Neither the shared agent nor its proxy.
    agent: false,

    headers: {
      'user-agent': 'callboard',
      'accept-encoding': 'identity',
      ...headers,
      via: TOOL_VIA,
      ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
    },
    // What was checked, whatever the name means by now.
    lookup: (_host, { all }, callback) => {
      const [first] = addresses;
      if (all || !first) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    },
  };
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const outgoing = request(url, options, resolve);
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Whatever the length that is announced, no more than so many bytes are kept, of a packed body too. */
async function readBody(response: IncomingMessage, maxBytes: number) {
  const chunks: Buffer[] = [];
  let room = maxBytes;
  for await (const chunk of decoded(response)) {
    chunks.push(chunk.subarray(0, room));
    room -= chunk.length;
    // Leaving the loop ends the stream.
    if (room < 0) break;
  }
  return { body: Buffer.concat(chunks), truncated: room < 0 };
}

function decoded(response: IncomingMessage): Readable {
  const encoding = response.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  const decoder = decoderOf(encoding);
  // What breaks either of them ends both; the reader gets the error.
  return pipeline(response, decoder, () => {});
}

function decoderOf(encoding: string): Transform {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    case 'identity':
      return new Transform({ transform: (chunk, _encoding, done) => done(null, chunk) });
    default:
      throw new ToolError(`The host answered with an encoding that is not read (${encoding}).`);
  }
}
