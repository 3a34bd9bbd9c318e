import type { Server } from 'node:http';
import { createPeerOf } from '../auth/room.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import {
  acceptTls,
  type Certificates,
  createMachineHosts,
  createReach,
  describeCa,
  hostsOfCertificate,
  openCertificates,
} from '../tls/room.ts';
import type { Config } from './config.ts';
import { isLoopbackHost, type Network } from './network.ts';

const NONE: readonly string[] = [];

/** How the outside reaches the server: by which names, with whose certificate, and through which trusted proxies. */
export async function openDoor(
  config: Pick<Config, 'dataDir'>,
  network: Network,
  deps: { readonly clock: Clock; readonly logger: Logger },
  port: () => number,
) {
  const { tls } = network;
  const certificates =
    tls.kind === 'none'
      ? undefined
      : await openCertificates({
          ...{ dataDir: config.dataDir, clock: deps.clock, logger: deps.logger },
          given: tls.kind === 'given' ? tls : undefined,
        });
  const ca = () => certificates?.ca();
  const certificateHosts = createCertificateHosts(certificates);
  const machine = createMachineHosts(deps.clock);
  const machineHosts = () => (network.isOpen ? machine.list() : NONE);
  const hosts = createJoined(machineHosts, certificateHosts);
  const { publicUrl, trustedProxies, host, isOpen, isPlaintext } = network;
  const reach = createReach({
    ...{ tls: tls.kind, isOpen, isPlaintext, publicUrl, host, port, ca },
    ...{ machineHosts, certificateHosts },
  });
  return {
    ...{ network, port, reach, machineHosts: hosts },
    peerOf: createPeerOf({ trustedProxies, publicUrl }),
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

export type Door = Awaited<ReturnType<typeof openDoor>>;

/** Those of a given certificate: people come by the names in it. */
function createCertificateHosts(certificates: Certificates | undefined): () => readonly string[] {
  if (certificates === undefined || certificates.ca()) return () => NONE;
  let [pem, hosts]: [string, readonly string[]] = ['', NONE];
  return () => {
    const now = String(certificates.context().cert);
    if (now !== pem) [pem, hosts] = [now, hostsOfCertificate(now)];
    return hosts;
  };
}

/** Both lists as one, which is the same until one of them is another. */
function createJoined(
  first: () => readonly string[],
  second: () => readonly string[],
): () => readonly string[] {
  let [a, b, joined] = [NONE, NONE, NONE];
  return () => {
    const [nextA, nextB] = [first(), second()];
    if (nextA !== a || nextB !== b) [a, b, joined] = [nextA, nextB, [...nextA, ...nextB]];
    return joined;
  };
}
