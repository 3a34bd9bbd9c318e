import type { IncomingMessage } from 'node:http';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { connect as connectTls, type TLSSocket } from 'node:tls';

const LONGEST_MS = 5_000;

export interface Probe {
  readonly status: number;
  /** Of the server's clock, where it sends it; whole seconds. */
  readonly date: Date | undefined;
}

/** `GET /healthz` of an address, with a name of its own in `Host`; rejects where no answer comes. */
export function probe(url: URL, more: { address?: string; signal: AbortSignal }): Promise<Probe> {
  const isTls = url.protocol === 'https:';
  return new Promise((resolve, reject) => {
    const options = {
      host: more.address ?? hostOf(url),
      port: portOf(url),
      path: '/healthz',
      headers: { host: url.host },
      // Which certificate it has is examined apart.
      rejectUnauthorized: false,
      signal: AbortSignal.any([more.signal, AbortSignal.timeout(LONGEST_MS)]),
      agent: false as const,
    };
    const answered = (response: IncomingMessage) => {
      response.resume();
      const date = response.headers.date;
      resolve({
        status: response.statusCode ?? 0,
        date: date === undefined ? undefined : new Date(date),
      });
    };
    const request = isTls ? requestHttps(options, answered) : requestHttp(options, answered);
    request.once('error', reject);
    request.end();
  });
}

export interface TlsFacts {
  /** Why a client refuses it; undefined: it does not. */
  readonly problem: string | undefined;
  readonly names: string;
  readonly validTo: Date;
  readonly validFrom: Date;
}

/** A handshake, with what this program trusts. */
export function probeTls(url: URL, signal: AbortSignal): Promise<TlsFacts> {
  return new Promise((resolve, reject) => {
    const host = hostOf(url);
    const socket: TLSSocket = connectTls(
      // A name is sent; an address must not be.
      {
        host,
        port: portOf(url),
        ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }),
        rejectUnauthorized: false,
        timeout: LONGEST_MS,
      },
      () => {
        const {
          subjectaltname: names,
          valid_to: to,
          valid_from: from,
        } = socket.getPeerCertificate();
        const problem = socket.authorized ? undefined : String(socket.authorizationError);
        resolve({ problem, names: names ?? '', validTo: new Date(to), validFrom: new Date(from) });
        socket.destroy();
      },
    );
    const end = (error: Error) => {
      socket.destroy();
      reject(error);
    };
    socket.once('error', end);
    socket.once('timeout', () => end(new Error('no handshake within 5 seconds')));
    signal.addEventListener('abort', () => end(new Error('interrupted')), { once: true });
  });
}

/** Without the brackets of IPv6. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

const portOf = ({ port, protocol }: URL): number =>
  Number(port || (protocol === 'https:' ? 443 : 80));
