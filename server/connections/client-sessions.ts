import type { ServerMessage } from '#lib/protocol/server-messages';
import type { Principal } from '../auth/room.ts';
import { ClientSession, type ClientSessionDeps } from './client-session.ts';
import type { ClientChannel } from './presence.ts';

export type ClientSessionsDeps = Omit<
  ClientSessionDeps,
  'live' | 'pendingInstances' | 'confirmations'
>;

/** The sessions of all clients that hold a channel open. */
export interface ClientSessions {
  open(principal: Principal, channel: ClientChannel): ClientSession;
  /** To the session of that instance, where it has one. */
  send(instanceId: string, message: ServerMessage): void;
}

export function createClientSessions(deps: ClientSessionsDeps): ClientSessions {
  const shared: ClientSessionDeps = {
    ...deps,
    live: new Map(),
    pendingInstances: new Set(),
    confirmations: new Set(),
  };
  return {
    open: (principal, channel) => new ClientSession(shared, principal, channel),
    send: (instanceId, message) => shared.live.get(instanceId)?.send(message),
  };
}
