import { setTimeout as sleep } from 'node:timers/promises';
import type { FetchLike, JSONRPCMessage } from '@modelcontextprotocol/client';
import { isRecord } from '#lib/json/is-record';
import { readLooseJson } from '#lib/json/parse-json';
import { reconnectCap, STABLE_MS } from '#lib/net/backoff';
import { createTurns, pieceEnd } from './whole-lines.ts';

const [LF, CR] = [10, 13];
const LINE_ENDS = ['\n\n', '\r\n\r\n'];
/** Between two requests for a stream. */
const LONGEST_MS = 60_000;

/** An answer, or one event of a stream, that is larger than a message may be. */
export class MessageTooLargeError extends Error {
  override readonly name = 'MessageTooLargeError';

  constructor(most: number) {
    super(`The server sent a message of more than ${most} bytes, the most that is read.`);
  }
}

/** Messages as they are taken of what came; `asked` gives the id of the request that was sent. */
type Read = (came: unknown, asked: () => string | number | undefined) => readonly JSONRPCMessage[];

type Wait = (ms: number, value: undefined, options: { signal?: AbortSignal }) => Promise<void>;

/** Each as it came. */
const AS_IT_IS: Read = () => [];

/** `fetch`, which reads no message of more than `most` bytes, and each message by `read`. */
export function boundedFetch(most: number, read = AS_IT_IS, wait: Wait = sleep): FetchLike {
  const paced = createPace(wait);
  return async (url, init) => {
    const isGet = init?.method === 'GET';
    if (isGet) await paced(init);
    const response = await fetch(url, init).catch((error: unknown) => {
      throw explained(error);
    });
    const { ok, body, headers } = response;
    // Nothing waits for an answer to a notification, and who refuses it may take requests all the same.
    const isNote = init?.method === 'POST' && idOf(init.body) === undefined;
    if (!ok && isNote) return new Response(null, { status: 202 });
    if (!body) return response;
    // The beginning of a refusal is enough.
    if (!ok) return new Response(await beginningOf(body), response);
    const asked = () => idOf(init?.body);
    if (/^text\/event-stream\b/i.test(headers.get('content-type') ?? '')) {
      const mend = (events: string) => mendEvents(events, (came) => read(came, asked));
      return new Response(body.pipeThrough(wholeEvents(most, mend)), response);
    }
    if (!isGet) return readAnswer(response, body.pipeThrough(limit(most)), read, asked);
    await body.cancel();
    return new Response(null, { status: 405, statusText: 'It offers no stream' });
  };
}

async function readAnswer(
  response: Response,
  body: ReadableStream<Uint8Array>,
  read: Read,
  asked: () => string | number | undefined,
): Promise<Response> {
  const text = await new Response(body).text();
  const messages = read(readLooseJson(text), asked);
  return messages.length > 0 ? answerWith(messages, response, asked) : new Response(text, response);
}

/** JSON that was read already, whatever the server calls it. */
function answerWith(
  messages: readonly JSONRPCMessage[],
  { headers, status }: Pick<Response, 'headers' | 'status'>,
  asked: () => unknown,
): Response {
  const named = new Headers(headers);
  named.set('content-type', 'application/json');
  const ofRequest = asked() === undefined ? status : 200;
  const response = new Response(null, { status: ofRequest, headers: named });
  return Object.defineProperty(response, 'json', { value: async () => messages });
}

function idOf(body: unknown): string | number | undefined {
  const sent = typeof body === 'string' ? readLooseJson(body) : undefined;
  const id = isRecord(sent) ? sent.id : undefined;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

/** A server whose stream ends at once is asked for it later each time (rule MC26). */
function createPace(wait: Wait) {
  let openedAt = Number.NEGATIVE_INFINITY;
  let inVain = 0;
  return async ({ headers, signal }: RequestInit): Promise<void> => {
    // A stream that goes on where it was cut comes as soon as the server says.
    if (new Headers(headers).has('last-event-id')) return;
    inVain = performance.now() - openedAt < STABLE_MS ? inVain + 1 : 0;
    if (inVain > 0) {
      await wait(reconnectCap(inVain, LONGEST_MS), undefined, signal ? { signal } : {});
    }
    openedAt = performance.now();
  };
}

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

function limit(most: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > most) controller.error(new MessageTooLargeError(most));
      else controller.enqueue(chunk);
    },
  });
}

/** The events of a stream, each once it is whole, as `mend` gives them. */
function wholeEvents(
  most: number,
  mend: (events: string) => string,
): TransformStream<Uint8Array, Uint8Array> {
  const turns = createTurns();
  const encoder = new TextEncoder();
  let open: Buffer[] = [];
  let bytes = 0;
  let tail: Buffer = Buffer.alloc(0);
  return new TransformStream({
    async transform(chunk, controller) {
      for (const piece of piecesOf(chunk)) {
        turns.begin();
        bytes += piece.byteLength;
        if (bytes > most) return controller.error(new MessageTooLargeError(most));
        const end = endOfEvents(tail, piece);
        if (end > 0) {
          const whole = Buffer.concat([...open, piece.subarray(0, end)]).toString();
          controller.enqueue(encoder.encode(mend(withoutReturns(whole))));
          [open, bytes] = [[], piece.byteLength - end];
        }
        open.push(piece.subarray(end));
        tail = Buffer.concat([tail, piece]).subarray(-SEAM_BYTES);
        // Each event is taken before the next ones are: a stream may be full of them (rule MC73).
        await turns.next();
      }
    },
    flush(controller) {
      // Some end the stream with the last line of their last event.
      const last = withoutReturns(Buffer.concat(open).toString().trimEnd());
      if (last !== '') controller.enqueue(encoder.encode(mend(`${last}\n\n`)));
    },
  });
}

/** The package looks for the next end of each kind behind every single line: thousands take seconds. */
const withoutReturns = (events: string): string => events.replaceAll(/\r\n?/g, '\n');

const EVENT = /[\s\S]+?(?:\r?\n\r?\n|$)/g;

/** Events whose data is a message that the package would not take have it mended. */
const mendEvents = (events: string, read: (came: unknown) => readonly JSONRPCMessage[]): string =>
  events.replace(EVENT, (event) => {
    const lines = event.split(/\r\n|[\r\n]/);
    const data = lines.filter((line) => line.startsWith('data:'));
    const came = readLooseJson(data.map(fieldOf).join('\n'));
    const messages = read(came);
    if (messages.length === 0 || messages[0] === came) return event;
    const kept = lines.filter((line) => /^(?:id|retry):/.test(line)).map((line) => `${line}\n`);
    const mended = messages.map((message) => `data: ${JSON.stringify(message)}\n\n`);
    return `${kept.join('')}${mended.join('')}`;
  });

const fieldOf = (line: string): string => line.slice(line.indexOf(':') + 1).replace(/^ /, '');

/** Gives as many short lines as are taken in one turn; the end of an event is not cut in two. */
function* piecesOf({ buffer, byteOffset, byteLength }: Uint8Array): Iterable<Buffer> {
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  let at = 0;
  for (let end = pieceEnd(bytes, at); end > 0; end = pieceEnd(bytes, at)) {
    while (bytes[end] === LF || bytes[end] === CR) end += 1;
    yield bytes.subarray(at, end);
    at = end;
  }
  if (at < bytes.length) yield bytes.subarray(at);
}

/** So much of the end of an event may be in the piece before. */
const SEAM_BYTES = 3;

/** Behind the last event that ends in the piece; 0: none does. */
function endOfEvents(tail: Buffer, piece: Buffer): number {
  const seam = Buffer.concat([tail, piece.subarray(0, SEAM_BYTES)]);
  return Math.max(0, lastEnd(piece), lastEnd(seam) - tail.length);
}

function lastEnd(bytes: Buffer): number {
  const ends = LINE_ENDS.map((end) => [bytes.lastIndexOf(end), end.length] as const);
  return Math.max(0, ...ends.map(([at, length]) => (at < 0 ? 0 : at + length)));
}
