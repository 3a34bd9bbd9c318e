export type { ClientSession, ClientSessions, Received } from './client-session.ts';
export type { ClientStream, ClientStreams } from './client-streams.ts';
export type { ClientChannel } from './client-table.ts';
export { createClientTable } from './client-table.ts';
export type { By, DeviceList } from './device-list.ts';
export type { HttpClients } from './http-clients.ts';
export { listClients, openClients } from './open-clients.ts';
export {
  createPairing,
  type DeviceOrigins,
  type OpenedDevices,
  openDevices,
  pairingConfigSchema,
} from './open-devices.ts';
export type { DevicePairing } from './pairing-service.ts';
export { parseClientFrame } from './parse-client-frame.ts';
