import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { z } from 'zod';
import { parseJson } from '#lib/json/parse-json';
import { type ErrorDetail, HttpError } from '#lib/protocol/http-error';
import { LIMITS } from '#lib/protocol/limits';
import { type InboundBudget, SMALL_BYTES } from '../sockets/room.ts';
import { whenClosed } from './open-responses.ts';

/**
 * Bytes that come in pieces, copied together but where there is one piece alone. A sender may make
 * each piece a single byte, and each takes some hundred bytes more as a buffer of its own.
 */
export class GatheredBytes {
  #bytes: Buffer = Buffer.alloc(0);
  #used = 0;

  add(piece: Buffer): void {
    const needed = this.#used + piece.length;
    if (this.#used === 0) this.#bytes = piece;
    else {
      if (needed > this.#bytes.length) this.#grow(needed);
      piece.copy(this.#bytes, this.#used);
    }
    this.#used = needed;
  }

  clear(): void {
    this.#bytes = Buffer.alloc(0);
    this.#used = 0;
  }

  all(): Buffer {
    return this.#bytes.subarray(0, this.#used);
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, needed));
    this.#bytes.copy(larger, 0, 0, this.#used);
    this.#bytes = larger;
  }
}

/** A request, and what bounds the bytes that come in at a time. */
export interface BodySource {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly inbound: InboundBudget;
}

/**
 * How much too much is still taken in, and thrown away, of a body that may be large: a
 * connection that is closed over unread bytes is reset, and the caller never reads its 413.
 */
const DRAIN_BYTES = 4 * 1024 * 1024;
const drainOf = (maxBytes: number): number => Math.min(16 * maxBytes, DRAIN_BYTES);

const LINGER_MS = 1_000;

/**
 * The whole body, up to `maxBytes`. What is over it is not kept. It takes its share
 * of what may come in at a time; one that is larger than `heldFrom`, by default a
 * call's, has it until the request is answered.
 */
export function readBody(
  { incoming, outgoing, inbound }: BodySource,
  maxBytes: number,
  heldFrom: number = LIMITS.httpBodyBytes,
): Promise<Buffer> {
  const declared = Number(incoming.headers['content-length'] ?? 0);
  const mostTaken = maxBytes + drainOf(maxBytes);
  if (declared > mostTaken) return Promise.reject(tooLarge(maxBytes));
  // A small one mostly comes in one piece, and ends with its last byte: it is neither counted, nor does
  // anything wait for the end of its stream.
  const isSmall = declared > 0 && declared <= Math.min(maxBytes, SMALL_BYTES);
  const share = isSmall ? undefined : inbound.open(sourceOf(incoming));
  return new Promise((resolve, reject) => {
    const gathered = new GatheredBytes();
    let size = 0;
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) gathered.add(chunk);
      else gathered.clear();
      if (isSmall && size === declared) resolve(gathered.all());
      share?.set({ arriving: size <= maxBytes ? size : 0, waiting: 0 });
      if (size <= mostTaken) return;
      // Nothing more is taken in. Closed at once, the connection would take the 413 with it.
      incoming.pause();
      outgoing.once('finish', () => setTimeout(() => incoming.destroy(), LINGER_MS).unref());
      reject(tooLarge(maxBytes));
    });
    if (share) {
      incoming.once('end', () => {
        share.set({ arriving: 0, waiting: size > heldFrom ? size : 0 });
        if (size > maxBytes) reject(tooLarge(maxBytes));
        else resolve(gathered.all());
      });
    }
    whenClosed(outgoing, () => {
      share?.set({ arriving: 0, waiting: 0 });
      // After its end an error without a reader would only cost its stack.
      if (isSmall ? size < declared : !incoming.complete) reject(cutShort());
    });
  });
}

const sourceOf = (incoming: IncomingMessage) => ({
  pause: () => incoming.pause(),
  resume: () => incoming.resume(),
  cut: () => incoming.destroy(),
});

const tooLarge = (maxBytes: number): HttpError =>
  new HttpError(
    'too_large',
    `The body is larger than ${maxBytes} bytes, the most that this path accepts.`,
  );

const cutShort = (): HttpError =>
  new HttpError('bad_request', 'The connection ended before the body was complete.');

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

/** Further details cost bytes and help no reader. */
const MAX_DETAILS = 20;

/** The value by its schema, or a `bad_request` that lists what is wrong and where. */
export function checkShape<S extends z.ZodType>(
  schema: S,
  value: unknown,
  what: 'body' | 'query' | 'path',
): z.output<S> {
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const details: ErrorDetail[] = checked.error.issues
    .slice(0, MAX_DETAILS)
    .map((issue) => ({ path: issue.path.map(String).join('.'), problem: issue.message }));
  const [first] = details;
  const where = first?.path ? `${first.path}: ` : '';
  throw new HttpError(
    'bad_request',
    `The ${what} does not have the right shape: ${where}${first?.problem ?? 'unknown'}`,
    { details },
  );
}
