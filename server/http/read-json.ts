import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseJson } from '#lib/json/parse-json';
import { HttpError } from '#lib/protocol/http-error';
import { LIMITS } from '#lib/protocol/limits';
import { type BodySource, readBody } from './read-body.ts';

const JSON_LIMITS = { maxDepth: LIMITS.jsonDepth, maxNodes: LIMITS.jsonNodes };

const LARGE_BYTES = 64 * 1024;

export interface JsonBody {
  readonly value: unknown;
  readonly bytes: number;
}

/** The body as JSON. None at all is an empty object: actions need not send one. */
export async function readJson(
  context: BodySource,
  maxBytes: number = LIMITS.httpBodyBytes,
): Promise<JsonBody> {
  const bytes = await readBody(context, maxBytes);
  if (bytes.length === 0) return { value: {}, bytes: 0 };
  checkJsonType(context.incoming);
  if (!isUtf8(bytes)) throw new HttpError('bad_request', 'The body is not UTF-8 text; send JSON.');
  const parsed = parseJson(bytes.toString('utf8'), JSON_LIMITS);
  if (!parsed.ok) throw new HttpError('bad_request', `The body cannot be read. ${parsed.message}`);
  // To read a large one takes long enough for a turn, and so does what is done with it.
  if (bytes.length >= LARGE_BYTES) await nextTurn();
  return { value: parsed.value, bytes: bytes.length };
}

/** Throws where the body is of a type that is named and is not JSON. */
export function checkJsonType({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const type = headers['content-type'];
  if (type === undefined || isJsonType(type)) return;
  throw new HttpError(
    'unsupported_media_type',
    `The body came as ${JSON.stringify(type.slice(0, 100))}; send JSON with "Content-Type: application/json".`,
  );
}

export const isJsonType = (type: string): boolean =>
  /^application\/(?:[\w.-]+\+)?json(?:\s*;|\s*$)/i.test(type);
