import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { isRecord } from '#lib/json/is-record';
import type { TestServer } from '../../http/testing/start-test-server.ts';

type Message = Readonly<Record<string, unknown>>;

/** A client's stream, read as a program would: events down, requests up. */
export async function openStream(server: TestServer, token: string) {
  const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
  const options = { host: '127.0.0.1', port: server.port, path: '/internal/stream', headers };
  const going = request({ ...options, agent: false });
  going.end();
  going.on('error', () => {});
  const response = await new Promise<IncomingMessage>((resolve) => going.once('response', resolve));
  const events: { name: string; data: Message }[] = [];
  const comments: string[] = [];
  let rest = '';
  let seq = 0;
  response.setEncoding('utf8').on('data', (chunk: string) => {
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, name = 'message', data] = /^(?:event: (\w+)\n)?data: (.*)$/.exec(block) ?? [];
      const value: unknown = JSON.parse(data ?? 'null');
      if (isRecord(value)) events.push({ name, data: value });
      else comments.push(block);
    }
  });
  const ended = new Promise<void>((resolve) => response.once('close', resolve));
  const find = (name: string) => events.find((event) => event.name === name)?.data;
  const messages = () => events.filter(({ name }) => name === 'message').map(({ data }) => data);
  const open = () => find('open');
  const idOf = () => String(open()?.stream_id);
  const post = (body: unknown, as = token, id = idOf()) =>
    server.post(`/internal/stream/${id}`, body, { token: as });
  const stream = {
    ...{ response, going, ended, comments, messages, open, post },
    close: () => find('close'),
    last: () => messages().at(-1),
    send: (...sent: unknown[]) => {
      seq += 1;
      return post({ seq, messages: sent });
    },
    /** Messages as texts, whatever they are. */
    sendText: (...sent: string[]) => {
      seq += 1;
      return post(`{"seq":${seq},"messages":[${sent.join(',')}]}`);
    },
  };
  while (response.statusCode === 200 && !open()) await once(response, 'data');
  return stream;
}
