export { createGates, createServer } from './create-http.ts';
export type {
  ClientStream,
  ClientStreamService,
  HttpClientService,
  SubmitOutcome,
  TakeOutcome,
} from './http-deps.ts';
export type { PageHandler } from './page-server.ts';
export { createUpgradeGate } from './upgrade-gate.ts';
