import { isRecord } from '#lib/json/is-record';
import { readJson, readLooseJson } from '#lib/json/parse-json';
import { ChatReader } from './chat-reader.ts';
import { type AnswerReader, UnreadableAnswerError } from './fields.ts';
import { ResponsesReader } from './responses-reader.ts';

type Fetch = typeof fetch;

/** A page for people answered. */
export class NoApiError extends Error {
  override readonly name = 'NoApiError';
}

/** One event, or an answer that is no stream, has no more. */
const MOST_CHARS = 16 * 1024 * 1024;

/**
 * `fetch` for the SDK's readers of OpenAI-compatible APIs, which end a whole answer at the first field
 * that they do not know. They get events of the fields that count, whatever the server sends: what is
 * odd and not needed is left out, and one JSON object in place of a stream is read, too (AL200).
 */
export function withReadableAnswers(fetchFrom: Fetch): Fetch {
  return async (input, init) => {
    const response = await fetchFrom(input, init);
    if (!response.ok || !response.body) return response;
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    const answer = new AnswerText(
      pathname.endsWith('/responses') ? new ResponsesReader() : new ChatReader(),
    );
    const lines = (events: readonly object[]) =>
      events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    const body = response.body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(
        new TransformStream<string, string>({
          transform: (text, controller) => controller.enqueue(lines(answer.push(text))),
          flush: (controller) => controller.enqueue(lines(answer.end())),
        }),
      )
      .pipeThrough(new TextEncoderStream());
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
}

class AnswerText {
  readonly #reader: AnswerReader;
  #form: 'unknown' | 'events' | 'json' = 'unknown';
  /** A line that has not ended; of JSON, all of it. */
  #rest = '';
  /** The lines of an event whose JSON goes over several. */
  #data: string[] = [];
  #dataChars = 0;
  #hasData = false;
  /** The first line that is none of a stream. */
  #words = '';
  #isDone = false;

  constructor(reader: AnswerReader) {
    this.#reader = reader;
  }

  push(text: string): object[] {
    const start = this.#rest.length;
    this.#rest += text;
    if (this.#form === 'unknown') this.#form = formOf(this.#rest);
    const end = this.#form === 'events' ? text.lastIndexOf('\n') : -1;
    if (end < 0) return this.#bounded();
    const lines = this.#rest.slice(0, start + end).split('\n');
    this.#rest = text.slice(end + 1);
    return lines.flatMap((line) => this.#takeLine(line.trim()));
  }

  end(): object[] {
    const events = this.#form === 'json' ? this.#takeJson() : this.#takeLine(this.#rest.trim());
    if (this.#words !== '' && !this.#hasData) throw new UnreadableAnswerError(this.#words);
    return [...events, ...this.#takeLine(''), ...(this.#isDone ? [] : this.#reader.end(false))];
  }

  #bounded(): object[] {
    if (this.#rest.length + this.#dataChars <= MOST_CHARS) return [];
    throw new UnreadableAnswerError('A piece of the answer is too long.');
  }

  #takeLine(line: string): object[] {
    const isData = line.startsWith('data:');
    // Some proxies name it once more.
    const data = line.replace(/^(?:data:\s*)+/, '');
    this.#hasData ||= isData;
    if (!/^(?:data|event|id|retry)?:/.test(line)) this.#words ||= line;
    if (isData) {
      this.#data.push(data);
      this.#dataChars += data.length + 1;
    }
    // Some servers leave out the empty line behind an event. Of several lines each would be read again for each.
    const isOver = line === '' || (isData && this.#data.length === 1 && isWhole(data));
    if (!isOver) return this.#bounded();
    const text = this.#data.join('\n').trim();
    this.#data = [];
    this.#dataChars = 0;
    return text === '' || this.#isDone ? [] : this.#takeEvent(text);
  }

  #takeEvent(text: string): object[] {
    if (text === '[DONE]') {
      this.#isDone = true;
      return this.#reader.end(true);
    }
    const event = readLooseJson(text);
    if (isRecord(event)) return this.#reader.take(event);
    // A piece of a text may be lost; none of arguments may.
    const isOfCall = this.#reader.hasCalls || /tool_calls|function_call/.test(text);
    if (!text.startsWith('{') || !isOfCall) return [];
    throw new UnreadableAnswerError('A piece of a call could not be read.');
  }

  #takeJson(): object[] {
    const whole = readJson(this.#rest);
    // Else it is one JSON object in each line.
    const events = isRecord(whole) ? [whole] : this.#rest.split('\n').map(readJson);
    this.#isDone = true;
    const taken = events.filter(isRecord).flatMap((event) => this.#reader.take(event));
    return [...taken, ...this.#reader.end(isRecord(whole))];
  }
}

/** By the first sign that shows. Throws `NoApiError`. */
function formOf(text: string): 'unknown' | 'events' | 'json' {
  const [sign] = text.trimStart();
  if (sign === '<') throw new NoApiError('A web page answered.');
  if (sign === undefined) return 'unknown';
  return sign === '{' || sign === '[' ? 'json' : 'events';
}

const isWhole = (data: string): boolean => data === '[DONE]' || readJson(data) !== undefined;
