export type { ClientSession, Received } from './client-session.ts';
export type { ClientSessions } from './client-sessions.ts';
export { ConnectedInstances } from './connected-instances.ts';
export { openClients, openClientTable } from './open-clients.ts';
export { parseClientFrame } from './parse-client-frame.ts';
export type { ClientChannel } from './presence.ts';
