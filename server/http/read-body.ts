import type { IncomingMessage } from 'node:http';
import { HttpError } from '#lib/protocol/http-error';

/** The whole body, up to `maxBytes`. What is over it is not kept. */
export function readBody(incoming: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const declared = Number(incoming.headers['content-length'] ?? 0);
  if (declared > maxBytes) return Promise.reject(tooLarge(maxBytes));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const stop = (error: HttpError) => {
      incoming.off('data', onData);
      chunks.length = 0;
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) return stop(tooLarge(maxBytes));
      chunks.push(chunk);
    };
    incoming.on('data', onData);
    incoming.once('end', () =>
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)),
    );
    incoming.once('error', () => stop(cutShort()));
    incoming.once('close', () => stop(cutShort()));
  });
}

const tooLarge = (maxBytes: number): HttpError =>
  new HttpError('too_large', `The body is over ${maxBytes} bytes, the most that this path takes.`);

const cutShort = (): HttpError =>
  new HttpError('bad_request', 'The connection ended before the body was complete.');
