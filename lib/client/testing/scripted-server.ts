import { WebSocketServer } from 'ws';
import { serveHttp } from '../../net/testing/serve-http.ts';
import {
  type ClientMessage,
  type ClientMessageOf,
  clientMessageSchema,
} from '../../protocol/client-messages.ts';
import { PROTOCOL, type ServerMessage } from '../../protocol/server-messages.ts';
import { createScriptedStreams, type ScriptedLine, socketLine } from './scripted-line.ts';

/** The server's end of one connection, played by a test. */
export interface Link {
  send(message: ServerMessage | Record<string, unknown> | string): void;
  /** The next message of that type; those before it are skipped, and kept in `all`. */
  next<T extends ClientMessage['type']>(type: T): Promise<ClientMessageOf<T>>;
  /** The next result or error of a call. */
  answer(): Promise<ClientMessageOf<'tool_result'> | ClientMessageOf<'tool_error'>>;
  /** Everything received so far. */
  readonly all: readonly ClientMessage[];
  /** Resolves with what came until the answer to a probe: all that was sent before it. */
  settled(): Promise<readonly ClientMessage[]>;
  /** Takes the hello and welcomes it. */
  welcome(fields?: {
    forget?: string[];
    cancel?: string[];
    heartbeat_ms?: number;
  }): Promise<ClientMessageOf<'hello'>>;
  close(code: number, reason?: string): void;
  /** Cuts the line without a word. */
  cut(): void;
  readonly closed: Promise<void>;
}

export interface ScriptedServer {
  readonly url: string;
  /** The next connection that comes. */
  accept(): Promise<Link>;
  readonly connections: number;
  /** False: each upgrade is cut off from now on, as by a proxy that knows none. */
  takeSockets(takes: boolean): void;
  /** The next requests of streams are handled, and their responses lost. */
  loseResponses(count: number): void;
  close(): Promise<void>;
}

/** A real server, for sockets and streams, that sends only what the test makes it send. */
export async function createScriptedServer(): Promise<ScriptedServer> {
  const links = createInbox<Link>();
  let connections = 0;
  let takesSockets = true;
  const accept = (line: ScriptedLine) => {
    connections += 1;
    links.put(createLink(line, connections));
  };
  const streams = createScriptedStreams(accept);
  const { server, port, close } = await serveHttp(streams.onRequest);
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    if (takesSockets) sockets.handleUpgrade(request, socket, head, (ws) => accept(socketLine(ws)));
    else socket.destroy();
  });
  return {
    url: `ws://127.0.0.1:${port}`,
    accept: () => links.take(() => true),
    get connections() {
      return connections;
    },
    takeSockets(takes) {
      takesSockets = takes;
    },
    loseResponses: streams.loseResponses,
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      await close();
    },
  };
}

function createLink(line: ScriptedLine, number: number): Link {
  const inbox = createInbox<ClientMessage>();
  const all: ClientMessage[] = [];
  let probes = 0;
  line.onText((text) => {
    // Parsed as the real server does: a message that it would refuse fails the test here.
    const message = clientMessageSchema.parse(JSON.parse(text));
    all.push(message);
    inbox.put(message);
  });

  const link: Link = {
    all,
    closed: new Promise((resolve) => line.onClose(resolve)),
    send: (message) => line.send(typeof message === 'string' ? message : JSON.stringify(message)),
    async next<T extends ClientMessage['type']>(type: T) {
      const isWanted = (message: ClientMessage) => message.type === type;
      return (await inbox.take(isWanted)) as ClientMessageOf<T>;
    },
    async answer() {
      const isAnswer = ({ type }: ClientMessage) => type === 'tool_result' || type === 'tool_error';
      return (await inbox.take(isAnswer)) as ClientMessageOf<'tool_result' | 'tool_error'>;
    },
    async settled() {
      probes += 1;
      link.send({ type: 'probe', nonce: `settle-${probes}` });
      for (;;) if ((await link.next('probe_ack')).nonce === `settle-${probes}`) return all;
    },
    async welcome({ forget = [], cancel = [], heartbeat_ms = 0 } = {}) {
      const hello = await link.next('hello');
      link.send({
        type: 'welcome',
        client_id: hello.client_id ?? 'client-1',
        resume_token: `token-${number}`,
        resumed: hello.resume_token !== undefined,
        heartbeat_ms,
        limits: {},
        forget,
        cancel,
        protocol: PROTOCOL,
      });
      return hello;
    },
    close: line.close,
    cut: line.cut,
  };
  return link;
}

/** Takes wait for puts; a take removes everything up to what it wanted. */
function createInbox<T>() {
  let items: T[] = [];
  let waiting: { isWanted: (item: T) => boolean; resolve: (item: T) => void } | null = null;
  const serve = () => {
    if (!waiting) return;
    const { isWanted, resolve } = waiting;
    const index = items.findIndex(isWanted);
    const found = items[index];
    if (found === undefined) return;
    items = items.slice(index + 1);
    waiting = null;
    resolve(found);
  };
  return {
    put(item: T) {
      items.push(item);
      serve();
    },
    take: (isWanted: (item: T) => boolean) =>
      new Promise<T>((resolve) => {
        waiting = { isWanted, resolve };
        serve();
      }),
  };
}
