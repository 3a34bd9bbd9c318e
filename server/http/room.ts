export { createClientScript } from './client-script.ts';
export { createApi } from './create-api.ts';
export { createHttpServer, createRequestsInFlight } from './create-http-server.ts';
export { createDevicePage } from './device-page.ts';
export { createForeignPages } from './foreign-pages.ts';
export type {
  ClientStream,
  ClientStreamService,
  HttpClientService,
  SubmitOutcome,
  TakeOutcome,
} from './http-deps.ts';
export { createKnownConnections } from './known-connections.ts';
export { createOpenSockets } from './open-sockets.ts';
export type { PageHandler } from './page-server.ts';
export { createPlainGate } from './plain-gate.ts';
export { createRequestListener } from './request-listener.ts';
export { readiness } from './routes/system.ts';
export { createTrustPages } from './trust/trust-pages.ts';
export { createUpgradeGate } from './upgrade-gate.ts';
