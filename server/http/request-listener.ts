import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { HttpError } from '#lib/protocol/http-error';
import { foreignFetch, type HostGate, isForeignFetch } from '../auth/room.ts';
import { PROJECT } from '../base/project.ts';
import type { Api } from './create-api.ts';
import { createDevicePage, isDevicePath } from './device-page.ts';
import { errorResponse, toHttpError } from './error-response.ts';
import type { ForeignPages } from './foreign-pages.ts';
import type { HttpDeps } from './http-deps.ts';
import type { PageHeadersOptions } from './page-headers.ts';
import { createPageServer, type PageHandler } from './page-server.ts';
import type { PlainGate } from './plain-gate.ts';
import { writeResponse } from './response.ts';
import { parseTarget, type Target } from './route-table.ts';
import { CLIENT_SCRIPT_PATH, createClientScript } from './served-file.ts';
import { createTrustPages, type TrustFacts } from './trust-pages.ts';

export interface RequestListenerDeps
  extends Pick<HttpDeps, 'connections' | 'credentials' | 'peerOf' | 'clock' | 'logger'> {
  readonly plainGate: Pick<PlainGate, 'refuse'>;
  readonly hostGate: HostGate;
  readonly foreignPages: ForeignPages;
  /** Next's handler. */
  readonly pages: PageHandler;
  readonly trust: () => TrustFacts | undefined;
  /** The folder of the build. */
  readonly dist?: string;
  readonly development: boolean;
  readonly strictTransport: PageHeadersOptions['strictTransport'];
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
  api: Api,
): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const { dist = join(PROJECT, 'dist') } = deps;
  const trustPages = createTrustPages(deps.trust);
  const serveClientScript = createClientScript(join(dist, 'client', 'client.js'));
  const serveDevicePage = createDevicePage({ ...deps, newNonce, dir: join(dist, 'device') });
  const servePage = createPageServer({ ...deps, newNonce });
  /** The pages, and the script that other sites may run. */
  const serve = (incoming: IncomingMessage, outgoing: ServerResponse, target: Target) => {
    if (isDevicePath(target.pathname)) return serveDevicePage(incoming, outgoing, target);
    return target.pathname === CLIENT_SCRIPT_PATH
      ? serveClientScript(incoming, outgoing)
      : servePage(incoming, outgoing, target);
  };
  const answerPage = (incoming: IncomingMessage, outgoing: ServerResponse, target: Target) => {
    // Clients of MCP look for an OAuth server there: there is none, and no page to sign in to.
    if (OAUTH_PATH.test(target.pathname)) return writeResponse(outgoing, errorResponse(noOAuth()));
    const trusted = trustPages(incoming, target.pathname);
    if (trusted) return writeResponse(outgoing, trusted);
    serve(incoming, outgoing, target).catch((error: unknown) =>
      writeResponse(outgoing, errorResponse(toHttpError(error, deps.logger))),
    );
  };
  return (incoming, outgoing) => {
    // A caller that resets the connection is not an error of the server; 'close' follows and ends the work.
    incoming.on('error', ignore);
    outgoing.on('error', ignore);
    const known = deps.connections.of(incoming);
    const plain = known ? undefined : deps.plainGate.refuse(incoming);
    if (plain) return writeResponse(outgoing, plain);
    const target = parseTarget(incoming.url);
    if (!target) return writeResponse(outgoing, errorResponse(badTarget()));
    const isApi = API_PATH.test(target.pathname);
    if (isApi && known) return api(incoming, outgoing, target, known);
    const refusal = refuseRequest(deps, incoming, target.pathname, isApi);
    if (refusal) return writeResponse(outgoing, errorResponse(refusal));
    if (!isApi) return answerPage(incoming, outgoing, target);
    if (!deps.foreignPages.answer(incoming, outgoing)) api(incoming, outgoing, target);
  };
}

/** Base64 of 16 random bytes. */
const newNonce = () => randomBytes(16).toString('base64');

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
