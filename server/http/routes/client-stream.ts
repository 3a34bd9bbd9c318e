import { isUtf8 } from 'node:buffer';
import { HttpError } from '#lib/protocol/http-error';
import { streamAnswerSchema, streamBodySchema } from '#lib/protocol/rest';
import { CLOSE } from '#lib/protocol/server-messages';
import { STREAM_LIMITS } from '#lib/protocol/stream';
import type { ClientStream } from '../../clients/room.ts';
import { CLIENTS } from '../../doors/room.ts';
import type { HttpDeps } from '../http-deps.ts';
import { checkJsonType, readBody } from '../read-body.ts';
import { OK } from '../response.ts';
import { type RequestContext, type Route, routesOf } from '../route.ts';

const route = routesOf('clients without a socket');

/** The messages of `/ws/client` where a socket cannot be opened: events down, requests up. */
export const clientStreamRoutes = ({ streams, openSockets }: HttpDeps): Route[] => [
  route('GET', '/internal/stream', {
    id: 'openStream',
    summary: 'The messages of a client without a socket, as Server-Sent Events',
    access: CLIENTS,
    responses: {
      200: {
        description:
          'text/event-stream: an event "open" with {stream_id, limits}, then a message as the data of each event, at last "close" with {code, reason}',
      },
    },
    handle({ principal }) {
      const problem = openSockets.capacityProblem(principal, 'client');
      if (problem) throw problem;
      return {
        status: 200,
        headers: { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' },
        stream(outgoing) {
          const stream = streams.open(principal, outgoing);
          outgoing.once('close', openSockets.add(stream, principal, 'client'));
        },
      };
    },
  }),
  route('POST', '/internal/stream/:id', {
    id: 'sendToStream',
    summary: 'Messages of the client of a stream, in order; the same seq again changes nothing',
    access: CLIENTS,
    docsBody: streamBodySchema,
    answers: ['Handled', streamAnswerSchema],
    async handle({ principal, params, context }) {
      const stream = streams.find(principal, params.id);
      if (!stream) throw new HttpError('not_found', NO_STREAM);
      const seq = await stream.take(await readText(context, stream));
      return { ...OK, seq };
    },
  }),
];

const NO_STREAM =
  'There is no such stream, or it is not yours. Open one with GET /internal/stream.';

/** Unparsed: each message is read by itself, as a frame of a socket is. */
async function readText(context: RequestContext, stream: ClientStream): Promise<string> {
  checkJsonType(context.incoming);
  context.incoming.on('data', () => stream.arriving());
  // It holds its bytes until all of it is handled.
  const bytes = await readBody(context, STREAM_LIMITS.bytes, 0).catch((error: unknown) => {
    const isTooLarge = error instanceof HttpError && error.code === 'too_large';
    if (isTooLarge) stream.close(CLOSE.tooLarge, 'A message is larger than 16 MiB');
    throw error;
  });
  if (!isUtf8(bytes)) throw new HttpError('bad_request', 'The body is not UTF-8 text; send JSON.');
  return bytes.toString('utf8');
}
