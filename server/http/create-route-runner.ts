import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { HttpError } from '#lib/protocol/http-error';
import {
  ANONYMOUS,
  type Caller,
  type Credentials,
  type Peer,
  type PeerOf,
  type Tokens,
} from '../auth/room.ts';
import type { Logger } from '../base/logger.ts';
import { refuseCaller } from '../doors/room.ts';
import type { InboundBudget, OutboundBudget, OutboundShare } from '../sockets/room.ts';
import { errorResponse, toHttpError } from './error-response.ts';
import type { Known, KnownConnections } from './known-connections.ts';
import { createPlaces, roomFor, whenClosed } from './open-responses.ts';
import { type HttpResponse, writeResponse } from './response.ts';
import type { RequestContext, Route } from './route.ts';
import type { PathParams } from './route-table.ts';
import { admit } from './unused-connections.ts';

/** A smaller record is answered at once. */
const LARGE_BYTES = 256 * 1024;

/** Each request that waits has a connection, and of the 10,000 the rest is for others. */
const MOST_OPEN = 1_000;

/** Runs a route for a request that has passed the host gate, and sends the response. Never rejects. */
export type RunRoute = (
  route: Route,
  params: PathParams,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  /** `known`: what the connection has shown before, so that it is not asked for again. */
  asked: { readonly search: string; readonly known?: Known | undefined },
) => Promise<void>;

interface RunnerDeps {
  readonly credentials: Pick<Credentials, 'authenticate'>;
  readonly peerOf: PeerOf;
  readonly connections: Pick<KnownConnections, 'keep'>;
  readonly inbound: InboundBudget;
  /** Bodies without a credential have a budget of their own, so that they keep no other waiting. */
  readonly untrustedInbound: InboundBudget;
  readonly outbound: OutboundBudget;
  readonly tokens: Pick<Tokens, 'onRevoked'>;
  readonly answered: (route: string, status: number) => void;
  /** Requests of one token that is no administrator's which are not answered yet. */
  readonly mostOpen?: number;
  /** It gets the errors that are not an `HttpError`. */
  readonly logger: Logger;
}

export function createRouteRunner(deps: RunnerDeps): RunRoute {
  const { mostOpen = MOST_OPEN } = deps;
  const takePlace = createPlaces(
    mostOpen,
    `${mostOpen} requests with this token are not answered yet. Wait until some are.`,
  );
  const respond = async (
    route: Route,
    params: PathParams,
    request: Request,
    known: Known | undefined,
  ) => {
    const { context } = request;
    const { access } = route;
    if (access === 'public') return route.run(ANONYMOUS, params, context);
    // First the credential, so that nothing is revealed without one.
    const caller = known?.caller ?? (await identify(deps, context));
    admit(context.outgoing);
    const refusal = refuseCaller(access, caller);
    if (refusal) throw refusal;
    takePlace(caller, context.outgoing);
    request.isOf(caller);
    cutWhenRevoked(deps.tokens, caller, request);
    return route.run(caller, params, context);
  };

  return async (route, params, incoming, outgoing, { search, known }) => {
    whenClosed(outgoing, () => {
      if (outgoing.headersSent) deps.answered(route.path, outgoing.statusCode);
    });
    let response: HttpResponse;
    try {
      const inbound = route.access === 'public' ? deps.untrustedInbound : deps.inbound;
      const peer = known?.peer ?? deps.peerOf(incoming);
      const asked = { incoming, outgoing, inbound, search, ...peer };
      const request = createRequest(asked, deps.outbound);
      response = await respond(route, params, request, known);
      // To read a large record takes long enough for a turn, and so does its text.
      if (request.context.isLarge()) await nextTurn();
    } catch (error) {
      response = errorResponse(toHttpError(error, deps.logger));
    }
    try {
      writeResponse(outgoing, response);
    } catch (error) {
      // E.g. a record that JSON cannot carry: the caller still gets an error.
      writeResponse(outgoing, errorResponse(toHttpError(error, deps.logger)));
    }
  };
}

/** Finds who shows the credential of this request. */
async function identify(
  { credentials, connections }: Pick<RunnerDeps, 'credentials' | 'connections'>,
  { incoming, address, isSecure }: RequestContext,
): Promise<Caller> {
  const { headers, method = '' } = incoming;
  const principal = await credentials.authenticate({ headers, method, address });
  if (principal instanceof HttpError) throw principal;
  const caller = { ...principal, address };
  connections.keep(incoming, { caller, peer: { address, isSecure } });
  return caller;
}

interface Request {
  readonly context: RequestContext;
  /** Says who asks, once that is known. */
  isOf(caller: Caller): void;
  /** It waits for something that happens later. */
  readonly isHeld: () => boolean;
}

function createRequest(
  asked: Pick<RequestContext, 'incoming' | 'outgoing' | 'inbound' | 'search' | keyof Peer>,
  outbound: OutboundBudget,
): Request {
  let controller: AbortController | undefined;
  let hasRoom = false;
  const { outgoing, address } = asked;
  let holder = address;
  let room: OutboundShare | undefined;
  const context: RequestContext = {
    ...asked,
    async makeRoom(bytes) {
      if (bytes < LARGE_BYTES || hasRoom) return;
      hasRoom = true;
      room = await roomFor(outbound, outgoing, bytes, holder);
    },
    resizeRoom: (bytes) => room?.resize(bytes),
    isLarge: () => hasRoom,
    signal() {
      controller ??= abortWhenLeft(outgoing);
      return controller.signal;
    },
  };
  return {
    context,
    isOf: (caller) => {
      holder = `${caller.kind} ${caller.tokenId}`;
    },
    isHeld: () => controller !== undefined,
  };
}

/** A request that is held, or whose body has not come, gets no response once its token is revoked. */
function cutWhenRevoked(
  tokens: Pick<Tokens, 'onRevoked'>,
  { tokenId }: Caller,
  { context: { incoming, outgoing }, isHeld }: Request,
): void {
  if (tokenId === null) return;
  const stop = tokens.onRevoked((revoked) => {
    if (revoked === tokenId && (isHeld() || !incoming.complete)) outgoing.destroy();
  });
  whenClosed(outgoing, stop);
}

function abortWhenLeft(outgoing: ServerResponse): AbortController {
  const controller = new AbortController();
  whenClosed(outgoing, () => {
    // After a whole response no one waits; an abort would only cost its error object.
    if (!outgoing.writableFinished) controller.abort();
  });
  return controller;
}
