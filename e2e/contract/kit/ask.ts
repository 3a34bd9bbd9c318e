import { type Agent, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { callRecordSchema, type WireCallRecord } from '../../../lib/protocol/call-record.ts';
import { httpErrorSchema } from '../../../lib/protocol/http-error.ts';
import type { Address } from '../../start-callboard.ts';

export interface Asked {
  /** The operator's by default; null for none. */
  readonly token?: string | null;
  /** JSON, or text and bytes as they are. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** One that keeps connections; by default each request has its own. */
  readonly agent?: Agent;
  readonly signal?: AbortSignal;
}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
  readonly text: string;
  /** Parsed when it says that it is JSON. */
  readonly body: unknown;
}

/** One request with every header as the test wants it: `fetch` would set its own `Host` and `Origin`. */
export function ask(
  board: Address,
  method: string,
  path: string,
  { token = board.token, body, headers = {}, agent, signal }: Asked = {},
): Promise<Answered> {
  const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
  const payload = isRaw ? body : JSON.stringify(body);
  const { hostname, port } = new URL(board.url);
  return new Promise((resolve, reject) => {
    const going = request({
      host: hostname,
      port,
      method,
      path,
      agent: agent ?? false,
      signal,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(payload === undefined
          ? {}
          : {
              'content-type': 'application/json',
              'content-length': String(Buffer.byteLength(payload)),
            }),
        ...headers,
      },
    });
    going.on('error', reject);
    going.on('response', (response) => {
      buffer(response).then((bytes) => {
        const text = bytes.toString('utf8');
        const isJson = /\bjson\b/.test(response.headers['content-type'] ?? '');
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          bytes,
          text,
          body: isJson && text !== '' ? JSON.parse(text) : text,
        });
      }, reject);
    });
    going.end(payload);
  });
}

export const get = (board: Address, path: string, asked?: Asked) => ask(board, 'GET', path, asked);

export const post = (board: Address, path: string, body: unknown = {}, asked?: Asked) =>
  ask(board, 'POST', path, { ...asked, body });

/** It reads a refusal, and throws when it has not the shape of one (contract, section 9). */
export const refusalOf = (answer: Answered) => ({
  status: answer.status,
  ...httpErrorSchema.parse(answer.body).error,
});

/** A record as HTTP told it; throws when it has not the shape of one (contract, section 6). */
export function recordOf(answer: Answered): WireCallRecord {
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return callRecordSchema.parse(answer.body);
}
