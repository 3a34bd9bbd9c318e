import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import { STREAM_PATH } from '../../protocol/stream.ts';
import { createEmitter } from '../../util/emitter.ts';

/** The server's end of one connection, whatever carries it. */
export interface ScriptedLine {
  send(text: string): void;
  close(code: number, reason?: string): void;
  cut(): void;
  onText(listener: (text: string) => void): void;
  onClose(listener: () => void): void;
}

export function socketLine(socket: WebSocket): ScriptedLine {
  socket.on('error', () => {});
  return {
    send: (text) => socket.send(text),
    close: (code, reason) => socket.close(code, reason),
    cut: () => socket.terminate(),
    onText: (listener) => void socket.on('message', (data) => listener(String(data))),
    onClose: (listener) => void socket.once('close', listener),
  };
}

const bodySchema = z.object({ seq: z.number(), messages: z.array(z.looseObject({})) });

/** Streams of events, with the requests that belong to each. */
export function createScriptedStreams(onLine: (line: ScriptedLine) => void) {
  const streams = new Map<string, { seq: number; take(messages: readonly object[]): void }>();
  /** Requests whose response is to be lost. */
  let lost = 0;

  function open(response: ServerResponse): void {
    const texts = createEmitter<string>();
    const id = `s${streams.size + 1}`;
    const take = (messages: readonly object[]) => {
      for (const message of messages) texts.emit(JSON.stringify(message));
    };
    streams.set(id, { seq: 0, take });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`event: open\ndata: ${JSON.stringify({ stream_id: id, limits: {} })}\n\n`);
    onLine({
      send: (text) => void response.write(`data: ${text}\n\n`),
      close: (code, reason = '') =>
        void response.end(`event: close\ndata: ${JSON.stringify({ code, reason })}\n\n`),
      cut: () => void response.destroy(),
      onText: (listener) => void texts.subscribe(listener),
      onClose: (listener) => void response.once('close', listener),
    });
  }

  async function post(id: string, request: IncomingMessage, response: ServerResponse) {
    const { seq, messages } = bodySchema.parse(await json(request));
    const stream = streams.get(id);
    const isNext = stream !== undefined && seq === stream.seq + 1;
    if (isNext) {
      stream.seq = seq;
      stream.take(messages);
    }
    if (lost > 0) {
      lost -= 1;
      response.destroy();
      return;
    }
    const isKnown = stream !== undefined && seq <= stream.seq;
    response.writeHead(isKnown ? 200 : 404).end(JSON.stringify({ ok: isKnown, seq }));
  }

  return {
    loseResponses(count: number): void {
      lost = count;
    },
    onRequest(request: IncomingMessage, response: ServerResponse): void {
      const { url = '', method } = request;
      if (method === 'GET' && url === STREAM_PATH) open(response);
      else if (method === 'POST') void post(url.slice(STREAM_PATH.length + 1), request, response);
      else response.end();
    },
  };
}
