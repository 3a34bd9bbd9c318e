import type { ServerMessage } from '#lib/protocol/server-messages';
import type { Principal } from '../auth/room.ts';
import { ClientSession, type ClientSessionDeps } from './client-session.ts';
import type { ClientChannel } from './presence.ts';

export type ClientSessionsDeps = Omit<
  ClientSessionDeps,
  'live' | 'pendingInstances' | 'confirmations'
>;

export type ClientSessions = ReturnType<typeof createClientSessions>;

/** The sessions of all clients that hold a channel open. */
export function createClientSessions(deps: ClientSessionsDeps) {
  const shared: ClientSessionDeps = {
    ...deps,
    live: new Map(),
    pendingInstances: new Set(),
    confirmations: new Set(),
  };
  return {
    open: (principal: Principal, channel: ClientChannel) =>
      new ClientSession(shared, principal, channel),
    /** To the session of that instance, where it has one. */
    send: (instanceId: string, message: ServerMessage) =>
      shared.live.get(instanceId)?.send(message),
  };
}
