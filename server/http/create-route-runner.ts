import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { HttpError } from '#lib/protocol/http-error';
import type { Credentials } from '../auth/credentials.ts';
import type { PeerOf } from '../auth/peer.ts';
import { ANONYMOUS, type Anonymous, type Caller } from '../auth/principal.ts';
import type { Tokens } from '../auth/tokens.ts';
import type { Logger } from '../base/logger.ts';
import type { InboundBudget } from '../sockets/inbound-budget.ts';
import type { OutboundBudget, OutboundShare } from '../sockets/outbound-budget.ts';
import { refuseCaller } from './allowed.ts';
import { createCountOfEach } from './count-of-each.ts';
import { errorResponse, toHttpError } from './error-response.ts';
import { type HttpResponse, writeResponse } from './response.ts';
import { roomFor } from './room-for.ts';
import type { RequestContext, Route } from './route.ts';
import type { PathParams } from './route-table.ts';
import { takePlace } from './take-place.ts';
import { admit } from './unused-connections.ts';

/** A smaller record is answered at once. */
const LARGE_BYTES = 256 * 1024;

/** Those that wait have a connection each, of which there are 10,000: the others are for others. */
const MOST_OPEN = 1_000;

/** Runs a route for a request that has passed the host gate, and sends the response. Never rejects. */
export type RunRoute = (
  route: Route,
  params: PathParams,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  search: string,
) => Promise<void>;

export function createRouteRunner(deps: {
  readonly credentials: Credentials;
  readonly peerOf: PeerOf;
  readonly inbound: InboundBudget;
  /** Of bodies without a credential: so that they keep no other waiting. */
  readonly untrustedInbound: InboundBudget;
  readonly outbound: OutboundBudget;
  readonly tokens: Pick<Tokens, 'onRevoked'>;
  readonly answered: (route: string, status: number) => void;
  /** Requests of one token that is no administrator's which are not answered yet. */
  readonly mostOpen?: number;
  /** Of errors that are not an `HttpError`. */
  readonly logger: Logger;
}): RunRoute {
  const { mostOpen = MOST_OPEN } = deps;
  const places = createCountOfEach(mostOpen);
  const tooMany = `${mostOpen} requests with this token are not answered yet. Wait until some are.`;
  const respond = async (route: Route, params: PathParams, request: Request) => {
    const { context } = request;
    const principal = await authorize(deps.credentials, route, context);
    if (principal.kind !== 'anonymous') takePlace(places, principal, context.outgoing, tooMany);
    request.isOf(principal);
    cutWhenRevoked(deps.tokens, principal, request);
    return route.run(principal, params, context);
  };

  return async (route, params, incoming, outgoing, search) => {
    outgoing.once('close', () => {
      if (outgoing.headersSent) deps.answered(route.path, outgoing.statusCode);
    });
    let response: HttpResponse;
    try {
      const inbound = route.access === 'public' ? deps.untrustedInbound : deps.inbound;
      const request = createRequest({ ...deps, inbound }, incoming, outgoing, search);
      response = await respond(route, params, request);
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

/** The caller, when the route is open to it. First the credential, so that nothing is revealed without one. */
async function authorize(
  credentials: Credentials,
  { access }: Route,
  { incoming, outgoing, address }: RequestContext,
): Promise<Caller | Anonymous> {
  if (access === 'public') return ANONYMOUS;
  const { headers, method = '' } = incoming;
  const principal = await credentials.authenticate({ headers, method, address });
  if (principal instanceof HttpError) throw principal;
  admit(outgoing);
  const refusal = refuseCaller(access, principal);
  if (refusal) throw refusal;
  return { ...principal, address };
}

interface Request {
  readonly context: RequestContext;
  /** Who asks, once that is known. */
  isOf(caller: Caller | Anonymous): void;
  /** It waits for something that happens later. */
  readonly isHeld: () => boolean;
}

function createRequest(
  {
    inbound,
    outbound,
    peerOf,
  }: Pick<Parameters<typeof createRouteRunner>[0], 'inbound' | 'outbound' | 'peerOf'>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  search: string,
): Request {
  let controller: AbortController | undefined;
  let hasRoom = false;
  let holder = '';
  let room: OutboundShare | undefined;
  const context: RequestContext = {
    incoming,
    outgoing,
    inbound,
    search,
    ...peerOf(incoming),
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
      holder = caller.kind === 'anonymous' ? context.address : `${caller.kind} ${caller.tokenId}`;
    },
    isHeld: () => controller !== undefined,
  };
}

/** A request that is held, or whose body has not come, gets no response once its token is revoked. */
function cutWhenRevoked(
  tokens: Pick<Tokens, 'onRevoked'>,
  caller: Caller | Anonymous,
  { context: { incoming, outgoing }, isHeld }: Request,
): void {
  if (caller.kind === 'anonymous' || caller.tokenId === null) return;
  const { tokenId } = caller;
  const stop = tokens.onRevoked((revoked) => {
    if (revoked === tokenId && (isHeld() || !incoming.complete)) outgoing.destroy();
  });
  outgoing.once('close', stop);
}

function abortWhenLeft(outgoing: ServerResponse): AbortController {
  const controller = new AbortController();
  if (outgoing.destroyed) controller.abort();
  outgoing.once('close', () => {
    // After a whole response no one waits; an abort would only cost its error object.
    if (!outgoing.writableFinished) controller.abort();
  });
  return controller;
}
