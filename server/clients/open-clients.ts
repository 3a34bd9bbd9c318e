import { createHmac, randomUUID } from 'node:crypto';
import { CLOSE } from '#lib/protocol/close-codes';
import type { ClientListing } from '#lib/protocol/watch-messages';
import { given } from '#lib/util/given';
import { type Audit, newSecret, type Tokens } from '../auth/room.ts';
import { hasFormOfNewId } from '../base/new-id.ts';
import type { Breaker, CallService, CallsOfClients, ClientInstances } from '../calls/room.ts';
import { type EventBus, instanceAddress } from '../events/room.ts';
import type { Store } from '../store/room.ts';
import type { ToolRegistry } from '../tools/room.ts';
import {
  ClientConnection,
  type ClientConnectionDeps,
  createClientSocketHandler,
  type OpenConnection,
} from './client-connection.ts';
import { type ClientSessionDeps, createClientSessions } from './client-session.ts';
import { createClientStreams } from './client-streams.ts';
import type { ClientTable, ConnectedInstance } from './client-table.ts';
import type { DeviceList } from './device-list.ts';
import { HttpClients, type HttpClientsDeps } from './http-clients.ts';
import { Identities } from './identities.ts';
import { KeptRegistrations } from './kept-registrations.ts';
import type { OpenedDevices } from './open-devices.ts';
import { ToolAdmission } from './tool-admission.ts';

export interface ListingDeps {
  readonly table: ClientTable;
  readonly registry: Pick<ToolRegistry, 'namesOf' | 'availabilityChanged'>;
  readonly breaker: Pick<Breaker, 'openCircuitsOf'>;
  readonly devices: Pick<DeviceList, 'ofClient' | 'seen' | 'onChange'>;
}

/** The table with what is listed of each instance besides: its tools, and the device that it is of. */
export function listClients({ table, registry, breaker, devices }: ListingDeps) {
  const toListing = (one: ConnectedInstance): ClientListing => {
    const tripped = breaker.openCircuitsOf(one.instanceId);
    return {
      client_id: one.clientId,
      name: one.name,
      kind: one.kind,
      connected: true,
      visible: one.visible,
      responsive: one.responsive,
      caps: [...one.caps],
      tools: registry.namesOf(one.instanceId),
      connected_at: one.connectedAt / 1_000,
      ...(tripped.length > 0 && {
        tripped: tripped.map((circuit) => ({ ...circuit, until: circuit.until / 1_000 })),
      }),
      ...given({
        permissions: one.permissions && { ...one.permissions },
        battery: one.battery && { ...one.battery },
        latency_ms: one.latencyMs,
        secure_context: one.secureContext,
        device_id: devices.ofClient(one.clientId)?.deviceId,
      }),
    };
  };
  table.onChange(({ instanceId }) => registry.availabilityChanged(instanceId));
  table.onLeft(({ clientId }) => devices.seen(clientId));
  devices.onChange(({ clientId, name }) => table.rename(clientId, name));
  return {
    ...table,
    offersTools: (clientId: string) =>
      table.instanceIds(clientId).some((id) => registry.namesOf(id).length > 0),
    /** Lists all instances, or those of one client. */
    listings: (clientId?: string): ClientListing[] => table.instances(clientId).map(toListing),
  };
}

export interface ClientsDeps
  extends Pick<ClientSessionDeps, 'blobs' | 'uploads' | 'logger'>,
    Omit<ClientConnectionDeps, 'sessions' | 'newNonce'>,
    Pick<HttpClientsDeps, 'closing'> {
  readonly calls: CallService & {
    readonly clients: CallsOfClients;
    readonly instances: ClientInstances;
  };
  readonly store: Store;
  readonly bus: EventBus;
  readonly registry: ToolRegistry;
  readonly devices: Pick<OpenedDevices, 'list'>;
  readonly tokens: Pick<Tokens, 'isLive'>;
  readonly audit: Audit;
  readonly operator: { readonly token: string };
  readonly newId: (prefix: 'client') => string;
}

/** Clients with a line of their own, and those without, as an earlier server left them. */
export async function openClients(deps: ClientsDeps) {
  const { store, bus, table, calls, clock, operator, tokens, newId, logger } = deps;
  const { instances } = calls;
  const { list: devices } = deps.devices;
  const identities = new Identities({
    store,
    table,
    instances,
    clock,
    newSecret,
    audit: deps.audit,
    logger,
    isMadeHere: (id) => hasFormOfNewId('client', id),
    newId: () => newId('client'),
    secretAfter: (token) => createHmac('sha256', operator.token).update(token).digest('base64url'),
  });
  const registry = new ToolAdmission({ registry: deps.registry, devices, instances, logger });
  const nameOf = (clientId: string) => devices.ofClient(clientId)?.name;
  const forClients = { ...deps, identities, registry, instances, nameOf };
  const sessions = createClientSessions({ ...forClients, calls: calls.clients });
  registry.onDecided(({ instanceId, ...decision }) => {
    const count = decision.decided.length;
    sessions.send(instanceId, { type: 'tools_registered', count, ...decision });
  });
  const byHttp = new HttpClients({
    ...forClients,
    answers: calls.clients,
    registrations: new KeptRegistrations({ store, clock }),
    isLive: ({ tokenId }) => tokenId === null || tokens.isLive(tokenId),
  });
  devices.onRevoked(({ clientId }) => {
    registry.dropClient(clientId);
    byHttp.end(clientId);
    instances.revoked(clientId);
  });
  await byHttp.restore();
  const ofConnections = { ...deps, sessions, newNonce: randomUUID };
  const openConnection: OpenConnection = (line) => new ClientConnection(ofConnections, line);
  return {
    sessions,
    byHttp,
    streams: createClientStreams({ openConnection, clock, newSecret }),
    onSocket: createClientSocketHandler(openConnection),
    /** Closes every connection of a client; resolves with how many there were. Its program does not come back by itself. */
    async disconnect(clientId: string): Promise<number> {
      const reason = 'A person disconnected it';
      const delivered = await Promise.all(
        table.instanceIds(clientId).map((instanceId) =>
          bus.deliver(instanceAddress(clientId, instanceId), {
            type: 'close',
            code: CLOSE.disconnected,
            reason,
          }),
        ),
      );
      return delivered.filter(Boolean).length;
    },
  };
}
