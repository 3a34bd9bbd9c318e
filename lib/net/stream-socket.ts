import { STREAM_LIMITS, STREAM_PATH } from '../protocol/stream.ts';
import { readCredentialProtocol, SESSION_HEADER } from '../protocol/subprotocols.ts';
import { createEmitter } from '../util/emitter.ts';
import type { Socket } from './environment.ts';

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

interface SocketEvent {
  readonly type: string;
  readonly data: unknown;
  readonly code: number;
  readonly reason: string;
}

/** The messages of one request have so many bytes together; a larger message goes alone. */
const BATCH_CHARS = 1024 * 1024;
/** Close code of a line that broke. */
const BROKEN = 1006;

/**
 * A client's socket without a WebSocket: the server's messages come as Server-Sent Events, its own
 * go by requests, one at a time. `url` and `protocols` are those of the socket that it takes the
 * place of. Rules: CL63 to CL66 in lib/client/SPEC.md.
 */
export function createStreamSocket(
  fetch: Fetch,
  url: string,
  protocols: readonly string[],
): Socket {
  const socket = new StreamSocket(fetch, url, protocols);
  void socket.read();
  return socket;
}

class StreamSocket implements Socket {
  readonly #fetch: Fetch;
  readonly #headers: Record<string, string>;
  readonly #ended = new AbortController();
  readonly #events = createEmitter<SocketEvent>();
  readonly #unsent: string[] = [];
  #url: string;
  #seq = 0;
  #isSending = false;

  constructor(fetch: Fetch, url: string, protocols: readonly string[]) {
    this.#fetch = fetch;
    this.#url = new URL(STREAM_PATH, url.replace(/^ws/, 'http')).href;
    this.#headers = toHeaders(protocols.join());
  }

  addEventListener(type: string, listener: (event: SocketEvent) => void): void {
    this.#events.subscribe((event) => {
      if (event.type === type) listener(event);
    });
  }

  send(text: string): void {
    this.#unsent.push(text);
    // Messages that are sent in one task go together.
    queueMicrotask(() => this.#sendAll());
  }

  /** The server learns of it by the end of the request. */
  close(code = 1000, reason = ''): void {
    this.#end(code, reason);
  }

  async read(): Promise<void> {
    try {
      const { ok, body } = await this.#ask({ cache: 'no-store' });
      const reader = ok && body?.pipeThrough(new TextDecoderStream()).getReader();
      let rest = '';
      while (reader) {
        const { done, value } = await reader.read();
        if (done) break;
        const blocks = (rest + value).split('\n\n');
        rest = blocks.pop() ?? '';
        for (const block of blocks) this.#receive(block);
      }
    } catch {
      // The line broke, or it was given up. The next statement reports either.
    }
    this.#end(BROKEN);
  }

  #receive(block: string): void {
    const [, name, data] = /^(?:event: (\w+)\n)?data: (.*)$/s.exec(block) ?? [];
    if (data === undefined) return;
    if (!name) return this.#emit('message', { data });
    const { stream_id, code, reason } = JSON.parse(data);
    if (name === 'close') return this.#end(code, reason);
    this.#url += `/${stream_id}`;
    this.#emit('open');
  }

  async #sendAll(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    while (this.#unsent.length > 0 && !this.#ended.signal.aborted) {
      this.#seq += 1;
      const body = `{"seq":${this.#seq},"messages":[${this.#takeBatch()}]}`;
      // Where the response was lost, the second one is the same, and changes nothing.
      const isTaken = (await this.#post(body)) ?? (await this.#post(body));
      if (!isTaken) this.#end(BROKEN);
    }
    this.#isSending = false;
  }

  #takeBatch(): string[] {
    let count = 0;
    for (let chars = 0; count < Math.min(this.#unsent.length, STREAM_LIMITS.messages); count += 1) {
      chars += this.#unsent[count]?.length ?? 0;
      if (count > 0 && chars > BATCH_CHARS) break;
    }
    return this.#unsent.splice(0, count);
  }

  /** Undefined without a response. */
  async #post(body: string): Promise<boolean | undefined> {
    try {
      const response = await this.#ask({ method: 'POST', body });
      await response.text();
      return response.ok;
    } catch {
      return undefined;
    }
  }

  #ask(init: RequestInit): Promise<Response> {
    return this.#fetch(this.#url, { ...init, headers: this.#headers, signal: this.#ended.signal });
  }

  #end(code: number, reason = ''): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    this.#emit('close', { code, reason });
  }

  #emit(type: string, event: Partial<SocketEvent> = {}): void {
    this.#events.emit({ data: '', code: 0, reason: '', ...event, type });
  }
}

/** The credential that a socket would offer as a subprotocol. */
function toHeaders(offered: string): Record<string, string> {
  const bearer = readCredentialProtocol('bearer', offered);
  const session = readCredentialProtocol('session', offered);
  return {
    accept: 'text/event-stream, application/json',
    'content-type': 'application/json',
    ...(bearer && { authorization: `Bearer ${bearer}` }),
    ...(session && { [SESSION_HEADER]: session }),
  };
}
