import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { QueueFullError, runIn, Semaphore } from '#lib/limits/semaphore';
import { HttpError } from '#lib/protocol/http-error';
import {
  type Credentials,
  foreignFetch,
  isForeignFetch,
  networkOf,
  type PeerOf,
} from '../auth/room.ts';
import type { Clock } from '../base/clock.ts';
import { OutboundBudget } from '../sockets/room.ts';
import { errorResponse } from './error-response.ts';
import { roomFor } from './open-responses.ts';
import { type PageHeadersOptions, setPageHeaders } from './page-headers.ts';
import { type HttpResponse, writeResponse } from './response.ts';
import type { Target } from './route-table.ts';
import { admit } from './unused-connections.ts';

export type PageHandler = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
) => void | Promise<void>;

/** The build's files and the icons: the same for every caller, so they need no credential. */
const FREE_FILE =
  /^\/(?:_next\/static\/.+|(?:favicon|icon|apple-icon)[\w.-]*|manifest\.webmanifest)$/;
/** And that of a one-time link, whose code its script sends: opening the page tries nothing. */
const SIGN_IN_PAGE = /^\/sign-in(?:\/[\w-]+)?$/;
/** Next's own: fetching of images and data, and in development its overlay and source maps. */
const NEXT_INTERNAL = /^\/(?:_next|__nextjs[\w-]*)(?:\/|$)/;
const NEXT_FETCHERS = /^\/_next\/(?:image|data)(?:\/|$)/;
/** By these Next's parts talk to each other; from outside they are attempts to pass its checks. */
const NEXT_HEADERS = /^x-(?:middleware-|invoke-|matched-path$|now-route-matches$)/;

/** A request for a page. */
interface Asked {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly target: Target;
  /** The client's address. */
  readonly address: string;
}

/**
 * Drawing a page takes the processor for some 25 ms, and calls are to be answered meanwhile. Half of
 * those that wait may be of one network.
 */
const DRAWN_AT_ONCE = { atOnce: 2, waiting: 128 };

/** A file, and what compresses it. So there are 64 on their way at once to visitors, and 64 to operators. */
const FILE_BYTES = 256 * 1024;
/** They leave less garbage than is worth collecting. */
const createFileBudget = (clock: Clock): OutboundBudget =>
  new OutboundBudget({ clock, collector: { used: () => {} } });

/**
 * Lets Next draw pages and nothing else: no API, no data routes, no server
 * actions, no image fetching. Who may see a page is decided here, not in a
 * middleware of Next's.
 */
export function createPageServer(deps: {
  readonly credentials: Credentials;
  readonly peerOf: PeerOf;
  readonly pages: PageHandler;
  readonly clock: Clock;
  readonly newNonce: () => string;
  readonly development: boolean;
  readonly strictTransport: PageHeadersOptions['strictTransport'];
}): (incoming: IncomingMessage, outgoing: ServerResponse, target: Target) => Promise<void> {
  // Apart, so that visitors without a credential do not keep operators from their pages.
  const forVisitors = new Semaphore(DRAWN_AT_ONCE);
  const forOperators = new Semaphore(DRAWN_AT_ONCE);
  const filesOf = {
    visitors: createFileBudget(deps.clock),
    operators: createFileBudget(deps.clock),
  };
  return async (incoming, outgoing, target) => {
    const { pathname } = target;
    const peer = deps.peerOf(incoming);
    const asked = { incoming, outgoing, target, address: peer.address };
    const policy = setPageHeaders(outgoing, {
      nonce: deps.newNonce(),
      host: incoming.headers.host ?? '',
      isSecure: peer.isSecure,
      strictTransport: deps.strictTransport,
      development: deps.development,
    });
    const refusal =
      refuse(incoming, pathname, deps.development) ??
      (await rejectUnauthenticated(deps.credentials, asked));
    if (refusal) {
      const headers = { ...refusal.headers, 'content-security-policy': policy };
      return writeResponse(outgoing, { ...refusal, headers });
    }
    cleanHeaders(incoming.headers);
    // Next reads the nonce for its scripts from the request.
    incoming.headers['content-security-policy'] = policy;
    const draw = async () => deps.pages(incoming, outgoing);
    if (FREE_FILE.test(pathname)) {
      const budget = (await isOperator(deps.credentials, asked))
        ? filesOf.operators
        : filesOf.visitors;
      await roomFor(budget, outgoing, FILE_BYTES, networkOf(peer.address));
      return draw();
    }
    const drawing = SIGN_IN_PAGE.test(pathname) ? forVisitors : forOperators;
    return drawOne(drawing, asked, draw);
  };
}

/** A visitor who leaves gives up the place. */
async function drawOne(
  drawing: Semaphore,
  { outgoing, address }: Asked,
  draw: () => Promise<void>,
): Promise<void> {
  const closed = new AbortController();
  outgoing.once('close', () => closed.abort());
  try {
    await runIn(drawing, draw, { signal: closed.signal, principal: networkOf(address) });
  } catch (error) {
    if (error instanceof QueueFullError) {
      const message = 'Too many pages are being rendered. Try again in a moment.';
      throw new HttpError('rate_limited', message, { retryAfter: 1 });
    }
    // The connection is closed: no response can be sent.
    if (error !== closed.signal.reason) throw error;
  }
}

/** Requests that no page path serves, with any credential. */
function refuse(
  { headers, method }: IncomingMessage,
  pathname: string,
  development: boolean,
): HttpResponse | undefined {
  const internal = NEXT_INTERNAL.test(pathname) && !FREE_FILE.test(pathname);
  if (headers['next-action'] !== undefined || NEXT_FETCHERS.test(pathname)) return notFound();
  if (internal && !development) return notFound();
  // Another site may link to a page. What it embeds or fetches would be drawn for nothing.
  const isEmbedded = isForeignFetch(headers) && headers['sec-fetch-mode'] !== 'navigate';
  if (isEmbedded && !FREE_FILE.test(pathname)) {
    return errorResponse(new HttpError(foreignFetch.code, foreignFetch.message));
  }
  if (method === 'GET' || method === 'HEAD') return undefined;
  return errorResponse(
    new HttpError('method_not_allowed', `Pages accept GET, not ${method}; the API is under /v1.`),
  );
}

/** By the cookie, which the browser sends for files too. */
async function isOperator(
  credentials: Credentials,
  { incoming: { headers, method = '' }, address }: Asked,
): Promise<boolean> {
  if (headers.cookie === undefined || headers.authorization !== undefined) return false;
  const principal = await credentials.authenticate({ headers, method, address, at: 'page' });
  return !(principal instanceof HttpError);
}

/** Without an operator's credential there is the sign-in page and nothing else. */
async function rejectUnauthenticated(
  credentials: Credentials,
  { incoming, outgoing, target, address }: Asked,
): Promise<HttpResponse | undefined> {
  const { pathname } = target;
  if (FREE_FILE.test(pathname) || SIGN_IN_PAGE.test(pathname)) return undefined;
  const { headers, method = '' } = incoming;
  const principal = await credentials.authenticate({ headers, method, address, at: 'page' });
  if (!(principal instanceof HttpError)) {
    admit(outgoing);
    return principal.kind === 'operator' ? undefined : toSignIn(target);
  }
  return principal.code === 'rate_limited' ? errorResponse(principal) : toSignIn(target);
}

function cleanHeaders(headers: IncomingHttpHeaders): void {
  for (const name of Object.keys(headers)) if (NEXT_HEADERS.test(name)) delete headers[name];
  delete headers['content-security-policy-report-only'];
}

/** `next` leads back afterwards; the sign-in page takes a path of ours alone. */
function toSignIn({ pathname, search }: Target): HttpResponse {
  const wanted = pathname + search;
  const next = wanted === '/' ? '' : `?next=${encodeURIComponent(wanted)}`;
  return { status: 303, body: '', headers: { location: `/sign-in${next}` } };
}

const notFound = (): HttpResponse =>
  errorResponse(new HttpError('not_found', 'This page does not exist.'));
