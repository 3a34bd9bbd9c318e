import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { PROJECT } from '../base/project.ts';
import { InboundBudget } from '../sockets/room.ts';
import { createApi } from './create-api.ts';
import { createHttpServer, createRequestsInFlight } from './create-http-server.ts';
import { createDevicePage } from './device-page.ts';
import { createForeignPages } from './foreign-pages.ts';
import type { HttpDeps } from './http-deps.ts';
import { createKnownConnections } from './known-connections.ts';
import { createOpenSockets } from './open-sockets.ts';
import { createPlainGate } from './plain-gate.ts';
import { createRequestListener, type RequestListenerDeps } from './request-listener.ts';
import { readiness } from './routes/system.ts';
import { createClientScript } from './served-file.ts';
import { createTrustPages, type TrustFacts } from './trust/trust-pages.ts';

type GatesDeps = Parameters<typeof createPlainGate>[0] &
  Parameters<typeof createForeignPages>[0] &
  Parameters<typeof createKnownConnections>[0] &
  Pick<HttpDeps, 'sessions' | 'tokens' | 'clock'>;

/** Makes what requests and sockets pass before they are served, and what they share. */
export const createGates = (deps: GatesDeps) => ({
  plainGate: createPlainGate(deps),
  foreignPages: createForeignPages(deps),
  connections: createKnownConnections(deps),
  openSockets: createOpenSockets(deps),
  inbound: new InboundBudget(deps),
});

type Own = 'api' | 'trustPages' | 'clientScript' | 'devicePage' | 'newNonce';

export interface HttpServerDeps
  extends Omit<HttpDeps, 'connections' | 'isForeignPage' | 'ready'>,
    Omit<RequestListenerDeps, Own | 'connections'> {
  readonly connections: HttpDeps['connections'] & RequestListenerDeps['connections'];
  readonly store: { readonly failed: boolean };
  readonly trust: () => TrustFacts | undefined;
  readonly gate: Pick<Parameters<typeof createHttpServer>[0], 'onUpgrade'>;
}

const newNonce = () => randomBytes(16).toString('base64');

/** Node's server with the API, the pages and the sockets; it does not listen yet. */
export function createServer(deps: HttpServerDeps) {
  const { store, closing, hostGate } = deps;
  const api = createApi({
    ...deps,
    isForeignPage: hostGate.isForeignPage,
    ready: () => readiness(store.failed, closing.aborted),
  });
  const onRequest = createRequestListener({
    ...deps,
    api,
    newNonce,
    trustPages: createTrustPages(deps.trust),
    clientScript: createClientScript(join(PROJECT, 'dist', 'client', 'client.js')),
    devicePage: createDevicePage({ ...deps, newNonce, dir: join(PROJECT, 'dist', 'device') }),
  });
  const inFlight = createRequestsInFlight(onRequest);
  const { onUpgrade } = deps.gate;
  const server = createHttpServer({ onRequest: inFlight.onRequest, onUpgrade });
  return { server, answered: inFlight.answered };
}
