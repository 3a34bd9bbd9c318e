import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { toUrlHost } from '#lib/net/hosts';
import { isSentByTool } from '#lib/protocol/sent-by-tool';
import type { PeerOf } from './peer.ts';

export interface HostGateOptions {
  /** The origins of our own pages differ by the scheme of the request. */
  readonly peerOf: PeerOf;
  /** Asked at each check: with port 0 it is known only once the server listens. */
  readonly port: () => number;
  /** The address that is listened on. */
  readonly host: string;
  /** Names and addresses of this machine, where others can reach it. The same list until one changes. */
  readonly machineHosts: () => readonly string[];
  /** The origin under which a proxy offers this server. */
  readonly publicUrl: string | undefined;
  /** More names people reach us by, at any port, or `name:port`, e.g. that of a reverse proxy. */
  readonly allowedHosts: readonly string[];
  /** More origins whose pages may talk to us, e.g. `https://board.example`. */
  readonly allowedOrigins: readonly string[];
}

export interface GateRefusal {
  readonly code: 'bad_request' | 'host_not_allowed' | 'origin_not_allowed';
  readonly message: string;
}

/** `none`: typed in, or opened from outside the browser. */
const OWN_FETCH_SITES = new Set(['same-origin', 'none']);

/**
 * The browser reports that a page of another site, or of another port of
 * this host, made this request, and no `Origin` names it. Pictures and scripts
 * are fetched like that, from anywhere.
 */
export const isForeignFetch = ({ origin, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean =>
  origin === undefined && site !== undefined && !OWN_FETCH_SITES.has(String(site));

export const foreignFetch: GateRefusal = {
  code: 'origin_not_allowed',
  message: 'A page of another site made this request. Open this server by its own address.',
};

const sentByTool: GateRefusal = {
  code: 'origin_not_allowed',
  message: 'The tool http.request made this request. A Callboard takes none of these.',
};

const HOST = /^(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/;
const PORT = /:\d+$/;
const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];
/** Addresses to listen on that no request can name. */
const WILDCARDS = new Set(['0.0.0.0', '::', '[::]']);

type Scheme = 'http' | 'https';

export type HostGate = ReturnType<typeof createHostGate>;

/**
 * Which names we answer to, and pages of which origins may talk to us. Both are
 * lists compared by equality after parsing, never by prefix or suffix; there is
 * no exception for loopback, since any page in a browser can reach that. The port
 * of a name says nothing of who asks: a forwarded port or a proxy has one of its own.
 */
export function createHostGate(options: HostGateOptions) {
  const more = [...options.allowedOrigins, ...(options.publicUrl ? [options.publicUrl] : [])];
  const origins = more.map((origin) => new URL(origin).origin);
  const allowed = {
    http: allowedBy(options, 'http', origins),
    https: allowedBy(options, 'https', origins),
  };
  const by = (isSecure: boolean) => allowed[isSecure ? 'https' : 'http']();
  const isOwn = (host: string, isSecure: boolean) => {
    const asked = host.toLowerCase();
    const { names, hosts } = by(isSecure);
    return HOST.test(asked) && (hosts.has(asked) || names.has(asked.replace(PORT, '')));
  };

  const gate = {
    /** Gives the same value as long as the same hosts and origins are ours. */
    ours: (isSecure: boolean): object => by(isSecure),
    /** Against DNS rebinding: a name that is not ours is refused, with any credential (421). */
    refuseHost: (host: string | undefined, isSecure: boolean): GateRefusal | undefined =>
      host !== undefined && isOwn(host, isSecure) ? undefined : foreignHost(host),
    /** Checks an `Origin` only where there is one (403). The one at the `host` that is asked is ours. */
    refuseOrigin(
      origin: string | undefined,
      isSecure: boolean,
      host?: string,
    ): GateRefusal | undefined {
      if (origin === undefined || isOneOf(by(isSecure).origins, origin)) return undefined;
      const scheme = isSecure ? 'https' : 'http';
      const own = host !== undefined && isOwn(host, isSecure) && URL.parse(`${scheme}://${host}`);
      return own && own.origin === origin ? undefined : foreignOrigin(origin);
    },
    /**
     * Checks both, the host first, and refuses what a tool of a Callboard sent (403). There may be
     * one host alone, since who reads which of two is not agreed (400). An `Origin` that is none of
     * ours may come this far where `admits` takes it.
     */
    refuse(
      incoming: Pick<IncomingMessage, 'headers' | 'rawHeaders' | 'socket'>,
      admits: (origin: string) => boolean = () => false,
    ): GateRefusal | undefined {
      const { headers, rawHeaders } = incoming;
      const { origin, host } = headers;
      const { isSecure } = options.peerOf(incoming);
      return (
        refuseSecondHost(rawHeaders) ??
        gate.refuseHost(host, isSecure) ??
        (isSentByTool(headers.via) ? sentByTool : undefined) ??
        (origin !== undefined && gate.isForeignPage(headers) && admits(origin)
          ? undefined
          : gate.refuseOrigin(origin, isSecure, host))
      );
    },
    /** The page that asks is none of ours, by either scheme. */
    isForeignPage: ({ origin, host }: Pick<IncomingHttpHeaders, 'origin' | 'host'>): boolean =>
      [true, false].every((isSecure) => gate.refuseOrigin(origin, isSecure, host) !== undefined),
  };
  return gate;
}

/** The hosts and origins of now, made anew once the port is known or the machine has another address. */
function allowedBy(options: HostGateOptions, scheme: Scheme, more: readonly string[]) {
  let known: (Allowed & { port: number; machine: readonly string[] }) | undefined;
  return () => {
    const [port, machine] = [options.port(), options.machineHosts()];
    if (known?.port === port && known.machine === machine) return known;
    known = { port, machine, ...allowedNow(options, scheme, more) };
    return known;
  };
}

interface Allowed {
  /** Each means us at any port. */
  readonly names: ReadonlySet<string>;
  /** Each means us at the port that it names. */
  readonly hosts: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
}

function allowedNow(options: HostGateOptions, scheme: Scheme, more: readonly string[]): Allowed {
  const listening = WILDCARDS.has(options.host) ? [] : [options.host];
  const own = [...LOOPBACK, ...[...listening, ...options.machineHosts()].map(toUrlHost)];
  const spelled = (names: readonly string[]) =>
    names.map((name) => name.toLowerCase()).filter((name) => HOST.test(name));
  const extra = spelled(options.allowedHosts);
  const ofPublic = options.publicUrl ? [new URL(options.publicUrl).hostname] : [];
  const names = [...spelled([...own, ...ofPublic]), ...extra.filter((name) => !PORT.test(name))];
  const hosts = extra.filter((name) => PORT.test(name));
  const atPort = [...names.map((name) => `${name}:${options.port()}`), ...hosts];
  const origins = atPort.map((host) => new URL(`${scheme}://${host}`).origin);
  return {
    names: new Set(names),
    hosts: new Set(hosts),
    origins: new Set([...origins, ...more]),
  };
}

/** An origin is one only in its own spelling: no path, no user, no odd form of an address. */
function isOneOf(origins: ReadonlySet<string>, origin: string): boolean {
  const parsed = URL.parse(origin);
  return parsed !== null && parsed.origin === origin && origins.has(origin);
}

/** Node keeps the first of several; a proxy in front of us may have used the last. */
function refuseSecondHost(rawHeaders: readonly string[]): GateRefusal | undefined {
  const isHost = (text: string, index: number) =>
    index % 2 === 0 && text.length === 4 && text.toLowerCase() === 'host';
  if (rawHeaders.filter(isHost).length < 2) return undefined;
  return { code: 'bad_request', message: 'The request has more than one Host header.' };
}

const foreignHost = (host: string | undefined): GateRefusal => ({
  code: 'host_not_allowed',
  message: `The host ${quote(host)} is not this server's. Open it by its own address. Behind a proxy, or at a port that another program forwards (docker -p, ssh -L), start it with CALLBOARD_PUBLIC_URL set to the address that people open, such as https://board.example:8443; or add the name to allowed_hosts in the configuration.`,
});

const foreignOrigin = (origin: string): GateRefusal => ({
  code: 'origin_not_allowed',
  message: `Pages of the origin ${quote(origin)} may not connect to this server. Open it by its own address, or add the origin to allowed_origins in the configuration.`,
});

const quote = (text: string | undefined): string => JSON.stringify((text ?? '').slice(0, 200));
