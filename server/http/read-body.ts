import type { IncomingMessage } from 'node:http';
import { HttpError } from '#lib/protocol/http-error';

/**
 * How much too much is still taken in, and thrown away: a connection that is
 * closed over unread bytes is reset, and the caller never reads its 413.
 */
const DRAIN_BYTES = 4 * 1024 * 1024;

/** The whole body, up to `maxBytes`. What is over it is not kept. */
export function readBody(incoming: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const declared = Number(incoming.headers['content-length'] ?? 0);
  if (declared > maxBytes + DRAIN_BYTES) return Promise.reject(tooLarge(maxBytes));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else chunks.length = 0;
      if (size > maxBytes + DRAIN_BYTES) reject(tooLarge(maxBytes));
    });
    incoming.once('end', () => {
      if (size > maxBytes) reject(tooLarge(maxBytes));
      else resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    });
    // After 'end' too: then the body is complete, and an error without a reader would only cost its stack.
    incoming.once('close', () => {
      if (!incoming.complete) reject(cutShort());
    });
  });
}

const tooLarge = (maxBytes: number): HttpError =>
  new HttpError(
    'too_large',
    `The body is larger than ${maxBytes} bytes, the most that this path accepts.`,
  );

const cutShort = (): HttpError =>
  new HttpError('bad_request', 'The connection ended before the body was complete.');
