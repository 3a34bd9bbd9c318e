export { createGates, createServer } from './create-http.ts';
export type { PageHandler } from './page-server.ts';
export { createUpgradeGate } from './upgrade-gate.ts';
