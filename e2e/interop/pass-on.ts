import { type IncomingHttpHeaders, request } from 'node:http';
import { serveHttp } from '#lib/net/testing/serve-http';
import type { Callboard } from '../start-callboard.ts';

interface PassOnOptions {
  /** Put on each request, over what it has. */
  readonly token?: string;
  /** Called with the headers of each request. */
  readonly onRequest?: (headers: IncomingHttpHeaders) => void;
}

/**
 * Passes requests on to `board`. What is asked of a foreign host or origin is passed on as it is.
 * To be closed.
 */
export async function passOn(
  board: Pick<Callboard, 'url'>,
  { token, onRequest }: PassOnOptions = {},
) {
  const { hostname, port, host } = new URL(board.url);
  const served = await serveHttp((incoming, outgoing) => {
    const own = `127.0.0.1:${served.port}`;
    const names = [own, own.replace('127.0.0.1', 'localhost')];
    const { host: askedHost, origin } = incoming.headers;
    const isOwnHost = names.includes(askedHost ?? '');
    const isOwnOrigin = names.some((name) => origin === `http://${name}`);
    onRequest?.(incoming.headers);
    const going = request(
      {
        ...{ host: hostname, port, method: incoming.method, path: incoming.url },
        headers: {
          ...incoming.headers,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(isOwnHost ? { host } : {}),
          ...(isOwnOrigin ? { origin: board.url } : {}),
        },
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
        answer.on('error', () => outgoing.destroy());
      },
    );
    going.on('error', () => outgoing.destroy());
    outgoing.on('close', () => going.destroy());
    incoming.pipe(going);
  });
  return { address: served.origin, close: served.close };
}
