import type { FetchLike } from '@modelcontextprotocol/client';
import { createTurns } from './turns.ts';
import { pieceEnd } from './whole-lines.ts';

const [LF, CR] = [10, 13];
const LINE_ENDS = ['\n\n', '\r\n\r\n'];

/** An answer, or one event of a stream, that is larger than a message may be. */
export class MessageTooLargeError extends Error {
  override readonly name = 'MessageTooLargeError';

  constructor(most: number) {
    super(`The server sent a message of more than ${most} bytes, the most that is read.`);
  }
}

/** `fetch`, which reads no message of more than `most` bytes. */
export const boundedFetch =
  (most: number): FetchLike =>
  async (url, init) => {
    const response = await fetch(url, init).catch((error: unknown) => {
      throw explained(error);
    });
    const { ok, body, status, statusText, headers } = response;
    if (!body) return response;
    // Of what is no answer to a request the beginning is enough.
    const isStream = ok && /^text\/event-stream\b/.test(headers.get('content-type') ?? '');
    return ok
      ? new Response(body.pipeThrough(limit(most, isStream)), { status, statusText, headers })
      : new Response(await beginningOf(body), { status, statusText, headers });
  };

/** `fetch` itself says only that it failed; why is in the cause. */
function explained(error: unknown): unknown {
  if (!(error instanceof TypeError && error.cause instanceof Error)) return error;
  const { cause } = error;
  const reason = cause.message || ('code' in cause ? String(cause.code) : cause.name);
  return new TypeError(`${error.message}: ${reason}`, { cause });
}

const ERROR_CHARS = 2_000;

async function beginningOf(body: ReadableStream<Uint8Array>): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > ERROR_CHARS) break;
  }
  return text.slice(0, ERROR_CHARS);
}

function limit(most: number, isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  const turns = createTurns();
  let bytes = 0;
  return new TransformStream({
    async transform(chunk, controller) {
      for (const piece of isStream ? piecesOf(chunk) : [chunk]) {
        turns.begin();
        bytes += piece.byteLength;
        if (bytes > most) return controller.error(new MessageTooLargeError(most));
        controller.enqueue(piece);
        if (!isStream) continue;
        bytes = sinceEvent(piece) ?? bytes;
        // Each event is taken before the next ones are: a stream may be full of them (rule MC73).
        await turns.next();
      }
    },
  });
}

/** Of many short lines so many as are taken in one turn; the end of an event is not cut in two. */
function* piecesOf({ buffer, byteOffset, byteLength }: Uint8Array): Iterable<Uint8Array> {
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  let at = 0;
  for (let end = pieceEnd(bytes, at); end > 0; end = pieceEnd(bytes, at)) {
    while (bytes[end] === LF || bytes[end] === CR) end += 1;
    yield bytes.subarray(at, end);
    at = end;
  }
  if (at < bytes.length) yield bytes.subarray(at);
}

/** How many bytes there are behind the last event that ends in it. */
function sinceEvent(chunk: Uint8Array): number | undefined {
  const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  const ends = LINE_ENDS.map((end) => [buffer.lastIndexOf(end), end.length] as const);
  const behind = ends.filter(([at]) => at >= 0).map(([at, length]) => at + length);
  return behind.length > 0 ? chunk.byteLength - Math.max(...behind) : undefined;
}
