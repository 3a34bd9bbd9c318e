import type { IncomingMessage, ServerResponse } from 'node:http';
import { HttpError } from '#lib/protocol/http-error';
import {
  type Credentials,
  foreignFetch,
  type HostGate,
  isForeignFetch,
  type PeerOf,
} from '../auth/room.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Api } from './create-api.ts';
import { type DevicePage, isDevicePath } from './device-page.ts';
import { errorResponse, toHttpError } from './error-response.ts';
import type { ForeignPages } from './foreign-pages.ts';
import type { KnownConnections } from './known-connections.ts';
import type { PageHeadersOptions } from './page-headers.ts';
import { createPageServer, type PageHandler } from './page-server.ts';
import type { PlainGate } from './plain-gate.ts';
import { type HttpResponse, writeResponse } from './response.ts';
import { parseTarget, type Target } from './route-table.ts';
import { CLIENT_SCRIPT_PATH, type ServeClientScript } from './served-file.ts';

export interface RequestListenerDeps {
  readonly plainGate: Pick<PlainGate, 'refuse'>;
  readonly hostGate: HostGate;
  readonly connections: Pick<KnownConnections, 'of'>;
  readonly credentials: Credentials;
  readonly peerOf: PeerOf;
  readonly api: Api;
  readonly foreignPages: ForeignPages;
  /** Next's handler. */
  readonly pages: PageHandler;
  /** How a phone comes to trust the own CA; undefined for all other paths. */
  readonly trustPages: (incoming: IncomingMessage, pathname: string) => HttpResponse | undefined;
  readonly clientScript: ServeClientScript;
  readonly devicePage: DevicePage;
  readonly clock: Clock;
  /** Base64 of at least 16 random bytes. */
  readonly newNonce: () => string;
  readonly development: boolean;
  readonly strictTransport: PageHeadersOptions['strictTransport'];
  readonly logger: Logger;
}

/** The API's; all else is a page's. */
const API_PATH =
  /^\/(?:(?:v1|api|internal|auth|mcp|ag-ui)(?:\/|$)|(?:healthz|readyz|metrics|openapi\.json)$)/;

const OAUTH_PATH = /^\/(?:\.well-known(?:\/|$)|register$)/;

/**
 * Node's server calls this for each request. It checks that the peer may come without TLS, the
 * target, the host and the origin; then the API answers, which refuses requests of other sites, or
 * the script that other sites may run, or the pages, to which they may link. What a connection has
 * shown for the API is not checked again. Never throws.
 */
export function createRequestListener(
  deps: RequestListenerDeps,
): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const answerUnknown = createUnknownAnswers(deps);
  return (incoming, outgoing) => {
    // A caller that resets the connection is not an error of the server; 'close' follows and ends the work.
    incoming.on('error', ignore);
    outgoing.on('error', ignore);
    const known = deps.connections.of(incoming);
    const plain = known ? undefined : deps.plainGate.refuse(incoming);
    if (plain) return writeResponse(outgoing, plain);
    const target = parseTarget(incoming.url);
    if (!target) return writeResponse(outgoing, errorResponse(badTarget()));
    // Clients of MCP look for an OAuth server there: there is none, and no page to sign in to.
    if (OAUTH_PATH.test(target.pathname)) return writeResponse(outgoing, errorResponse(noOAuth()));
    const isApi = API_PATH.test(target.pathname);
    if (isApi && known) return deps.api(incoming, outgoing, target, known);
    answerUnknown(incoming, outgoing, target, isApi);
  };
}

/** Answers on a connection that has shown nothing yet. */
function createUnknownAnswers(deps: RequestListenerDeps) {
  const answerPage = createPageAnswers(deps);
  return (
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    target: Target,
    isApi: boolean,
  ): void => {
    const refusal = refuseRequest(deps, incoming, target.pathname, isApi);
    if (refusal) return writeResponse(outgoing, errorResponse(refusal));
    if (!isApi) return answerPage(incoming, outgoing, target);
    if (!deps.foreignPages.answer(incoming, outgoing)) deps.api(incoming, outgoing, target);
  };
}

/** Refuses by the host and the origin, and the API's requests of other sites, before any credential. */
export function refuseRequest(
  gates: { readonly hostGate: HostGate; readonly foreignPages: Pick<ForeignPages, 'admits'> },
  incoming: IncomingMessage,
  pathname: string,
  isApi: boolean,
): HttpError | undefined {
  const refusal =
    gates.hostGate.refuse(incoming, (origin) =>
      gates.foreignPages.admits(incoming, pathname, origin),
    ) ?? (isApi && isForeignFetch(incoming.headers) ? foreignFetch : undefined);
  return refusal && new HttpError(refusal.code, refusal.message);
}

/** The pages, and the script that other sites may run. */
function createPageAnswers(deps: RequestListenerDeps) {
  const servePage = createPageServer(deps);
  const serve = (incoming: IncomingMessage, outgoing: ServerResponse, target: Target) => {
    if (isDevicePath(target.pathname)) return deps.devicePage(incoming, outgoing, target);
    return target.pathname === CLIENT_SCRIPT_PATH
      ? deps.clientScript(incoming, outgoing)
      : servePage(incoming, outgoing, target);
  };
  return (incoming: IncomingMessage, outgoing: ServerResponse, target: Target): void => {
    const trusted = deps.trustPages(incoming, target.pathname);
    if (trusted) return writeResponse(outgoing, trusted);
    serve(incoming, outgoing, target).catch((error: unknown) =>
      writeResponse(outgoing, errorResponse(toHttpError(error, deps.logger))),
    );
  };
}

const ignore = (): void => {};

const noOAuth = (): HttpError =>
  new HttpError(
    'not_found',
    'There is no such document. Programs send a token as Authorization: Bearer.',
  );

export const badTarget = (): HttpError =>
  new HttpError(
    'bad_request',
    'The request target is not valid: it must be a path that starts with one "/", percent-encoded as UTF-8.',
  );
