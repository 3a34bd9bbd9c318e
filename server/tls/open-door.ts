import type { Server } from 'node:http';
import { isLoopback, toUrlHost } from '#lib/net/hosts';
import { createIsAmong, createPeerOf } from '../auth/room.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { acceptTls } from './accept-tls.ts';
import { openCertificates } from './certificates.ts';
import { createMachineHosts, hostsOfCertificate } from './machine-names.ts';
import { createReach, describeCa } from './reach.ts';

/** Whose certificate is used: one that this server makes, one that was given, or none. */
export type TlsChoice =
  | { readonly kind: 'own' }
  | { readonly kind: 'given'; readonly cert: string; readonly key: string }
  | { readonly kind: 'none' };

/** Where the server listens, and by what it can be reached there. */
export interface Network {
  /** The address to listen on. */
  readonly host: string;
  /** Others than this machine reach it. */
  readonly isOpen: boolean;
  readonly tls: TlsChoice;
  /** By decision of a person everyone on the network may read what is sent. */
  readonly isPlaintext: boolean;
  /** The origin under which a proxy offers the server. */
  readonly publicUrl: string | undefined;
  /** Addresses of proxies, or ranges of them. */
  readonly trustedProxies: readonly string[];
}

const NONE: readonly string[] = [];

/** How the outside reaches the server: by which names, with whose certificate, and through which trusted proxies. */
export async function openDoor(
  config: { readonly dataDir: string },
  network: Network,
  deps: { readonly clock: Clock; readonly logger: Logger },
  port: () => number,
) {
  const { tls } = network;
  const certificates =
    tls.kind === 'none'
      ? undefined
      : await openCertificates({
          dataDir: config.dataDir,
          clock: deps.clock,
          logger: deps.logger,
          given: tls.kind === 'given' ? tls : undefined,
        });
  const ca = () => certificates?.ca();
  // A given certificate says by which names people come.
  const pem = () => (ca() ? undefined : certificates?.context().cert);
  const certificateHosts = remade(
    () => [pem()],
    (given) => (given === undefined ? NONE : hostsOfCertificate(String(given))),
  );
  const machine = createMachineHosts(deps.clock);
  const machineHosts = () => (network.isOpen ? machine.list() : NONE);
  const hosts = remade(
    () => [machineHosts(), certificateHosts()],
    (ofMachine, ofCertificate) => [...ofMachine, ...ofCertificate],
  );
  const { publicUrl, trustedProxies, host, isOpen, isPlaintext } = network;
  const reach = createReach({
    tls: tls.kind,
    isOpen,
    isPlaintext,
    publicUrl,
    host,
    port,
    ca,
    machineHosts,
    certificateHosts,
  });
  const isProxy = createIsAmong(trustedProxies);
  return {
    host,
    publicUrl,
    port,
    reach,
    machineHosts: hosts,
    peerOf: createPeerOf({ trustedProxies, publicUrl }),
    mayBePlain: (address: string) => isPlaintext || isLoopbackHost(address) || isProxy(address),
    hasTls: tls.kind !== 'none',
    trust() {
      const own = ca();
      return own && { der: own.raw, ...describeCa(own) };
    },
    /**
     * It holds for all ports of a name: only a server at the default port may say it, and not
     * with a CA that may be made anew, or for the names of every machine.
     */
    strictTransport: (name: string) =>
      !/:\d+$/.test(name) &&
      !isLoopbackHost(name) &&
      (tls.kind === 'given' || publicUrl === `https://${name}`),
    /** From then on the server takes TLS too, with the certificate that counts at each moment. */
    serveTls(server: Server, closing: AbortSignal) {
      if (!certificates) return;
      const change = acceptTls(server, certificates.context());
      closing.addEventListener('abort', certificates.follow(change));
    },
  };
}

/** Makes it anew only where what it is made of is another one: else it stays the same. */
function remade<const Parts extends readonly unknown[], Made>(
  partsOf: () => Parts,
  make: (...parts: Parts) => Made,
): () => Made {
  let last: { readonly parts: Parts; readonly made: Made } | undefined;
  return () => {
    const parts = partsOf();
    if (!last?.parts.every((one, at) => one === parts[at])) last = { parts, made: make(...parts) };
    return last.made;
  };
}

/** The address is of a socket, or of a setting. Names other than `localhost` may lead anywhere. */
export const isLoopbackHost = (host: string): boolean =>
  isLoopback(URL.parse(`http://${toUrlHost(host)}`)?.hostname ?? '');
