import { request } from 'node:http';
import type { Address } from '../../start-callboard.ts';
import { createInbox } from './inbox.ts';
import { type Closed, type Line, NEXT_MS, RefusedError, type SocketOptions } from './socket.ts';

interface Typed {
  readonly type: string;
}

/** A request takes so many messages. */
const MOST_MESSAGES = 1_000;

/** The line is what a socket would be, as events of `GET /internal/stream` and requests beside it. */
export async function openStream<M extends Typed>(
  board: Address,
  parse: (value: unknown) => readonly M[],
  { token = board.token, headers = {}, patienceMs = NEXT_MS }: SocketOptions = {},
): Promise<Line<M>> {
  const credential = token === null ? {} : { authorization: `Bearer ${token}` };
  const { put, ...inbox } = createInbox<M>(patienceMs);
  const closed = Promise.withResolvers<Closed>();
  const opened = Promise.withResolvers<string>();
  const going = request(`${board.url}/internal/stream`, {
    headers: { accept: 'text/event-stream', ...credential, ...headers },
    agent: false,
  });
  const broke = () => closed.resolve({ code: 1006, reason: '' });
  going.on('error', broke);

  const receive = (block: string) => {
    const [, name, data] = /^(?:event: (\w+)\n)?data: (.*)$/s.exec(block) ?? [];
    if (data === undefined) return;
    const value = JSON.parse(data);
    if (name === 'open') opened.resolve(value.stream_id);
    else if (name === 'close') closed.resolve(value);
    else put(parse(value));
  };
  going.on('response', (response) => {
    if (response.statusCode !== 200) opened.reject(new RefusedError(response.statusCode ?? 0));
    let rest = '';
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      const blocks = (rest + chunk).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) receive(block);
    });
    response.on('error', broke);
    response.on('close', broke);
  });
  going.end();
  const url = `${board.url}/internal/stream/${await opened.promise}`;
  return {
    ...inbox,
    send: createSender(url, { ...credential, ...headers }),
    pause: () => void going.socket?.pause(),
    resume: () => void going.socket?.resume(),
    closed: closed.promise,
    close() {
      going.destroy();
      return closed.promise;
    },
    vanish() {
      going.destroy();
      return closed.promise;
    },
  };
}

/** One request at a time, with all that waits; after a refusal nothing more. */
function createSender(url: string, headers: Record<string, string>) {
  const unsent: string[] = [];
  let seq = 0;
  let isSending = false;

  async function pump(): Promise<void> {
    if (isSending) return;
    isSending = true;
    while (unsent.length > 0) {
      seq += 1;
      const messages = unsent.splice(0, MOST_MESSAGES).join(',');
      const body = `{"seq":${seq},"messages":[${messages}]}`;
      const type = { 'content-type': 'application/json' };
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers: { ...headers, ...type },
          body,
        });
        await response.text();
        if (!response.ok) return;
      } catch {
        return; // The server is gone; the stream ends as well.
      }
    }
    isSending = false;
  }

  return (message: unknown): void => {
    unsent.push(typeof message === 'string' ? message : JSON.stringify(message));
    void pump();
  };
}
