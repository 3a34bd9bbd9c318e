import { sameJson } from '#lib/json/equal';
import type { ClientListing } from '#lib/protocol/watch-messages';
import type { InstanceFacts } from '../calls/router.ts';
import type { ClientStanding, Trip } from '../tools/tool-registry.ts';
import { InstanceIndex } from './instance-index.ts';
import { Touches } from './touches.ts';

/** One connected instance of a client, whatever carries its messages. */
export interface ConnectedInstance {
  readonly clientId: string;
  readonly instanceId: string;
  readonly name: string;
  readonly kind: 'tab' | 'phone' | 'program';
  readonly caps: readonly string[];
  readonly journalEpoch: string | null;
  readonly visible: boolean;
  readonly responsive: boolean;
  readonly permissions: Readonly<Record<string, string>> | undefined;
  readonly secureContext: boolean | undefined;
  readonly connectedAt: number;
}

export interface ClientTable {
  add(instance: ConnectedInstance): void;
  /** Publishes a change only when something that watchers see has changed. */
  update(
    instanceId: string,
    change: Partial<
      Pick<ConnectedInstance, 'visible' | 'responsive' | 'permissions' | 'secureContext'>
    >,
  ): void;
  /** A person has just touched it. What its program does by itself is not a touch. */
  touch(instanceId: string): void;
  remove(instanceId: string): void;
  get(instanceId: string): ConnectedInstance | undefined;
  /** Whether any instance of this client is connected. */
  hasClient(clientId: string): boolean;
  /** Whether any of them offers tools. */
  offersTools(clientId: string): boolean;
  /** For the order in which the clients of a pool are asked. */
  standing(instanceId: string): ClientStanding;
  facts(instanceId: string): InstanceFacts | undefined;
  /** Of all, or of one client's instances. */
  listings(clientId?: string): ClientListing[];
  /** Called when what is listed of a client is new. */
  onChange(listener: (clientId: string) => void): void;
}

/** The instances that are connected to this process, whatever carries their messages. */
export function createClientTable(deps: {
  now(): number;
  toolsOf(instanceId: string): string[];
  /** Called when `standing` of an instance is another one. */
  standingChanged(instanceId: string): void;
  /** Tools whose calls it is not offered for a while. */
  tripsOf?(instanceId: string): Trip[];
}): ClientTable {
  const instances = new InstanceIndex<ConnectedInstance>();
  /** Coming back is not a touch. An instance that reports none counts from its connection. */
  const touches = new Touches();
  let listChanged = (_clientId: string) => {};
  const listingOf = (one: ConnectedInstance) =>
    toListing(one, deps.toolsOf(one.instanceId), deps.tripsOf?.(one.instanceId) ?? []);
  const changed = ({ clientId, instanceId }: ConnectedInstance) => {
    deps.standingChanged(instanceId);
    listChanged(clientId);
  };
  const instancesOf = (clientId: string) =>
    [...instances.idsOf(clientId)].flatMap((id) => instances.get(id) ?? []);

  return {
    add(instance) {
      instances.set(instance);
      changed(instance);
    },
    update(instanceId, change) {
      const before = instances.get(instanceId);
      if (!before) return;
      const after = { ...before, ...change };
      instances.set(after);
      if (!sameJson(before, after)) changed(after);
    },
    touch(instanceId) {
      const forgotten = touches.set(instanceId, deps.now());
      const one = instances.get(instanceId);
      if (one) changed(one);
      if (forgotten !== undefined) deps.standingChanged(forgotten);
    },
    remove(instanceId) {
      const before = instances.get(instanceId);
      if (before && instances.delete(instanceId)) changed(before);
    },
    get: (instanceId) => instances.get(instanceId),
    hasClient: (clientId) => instances.has(clientId),
    offersTools: (clientId) =>
      Iterator.from(instances.idsOf(clientId)).some((id) => deps.toolsOf(id).length > 0),
    standing(instanceId) {
      return toStanding(instances.get(instanceId), touches.get(instanceId));
    },
    facts(instanceId) {
      const one = instances.get(instanceId);
      return one && toInfo(one);
    },
    listings: (clientId) =>
      (clientId === undefined ? [...instances.values()] : instancesOf(clientId)).map(listingOf),
    onChange(listener) {
      listChanged = listener;
    },
  };
}

const toStanding = (
  one: ConnectedInstance | undefined,
  touchedAt: number | undefined,
): ClientStanding => ({
  name: one?.name ?? 'a client that has left',
  visible: one?.visible ?? false,
  responsive: one?.responsive ?? false,
  lastTouchedAt: touchedAt ?? one?.connectedAt ?? 0,
});

const toInfo = (one: ConnectedInstance): InstanceFacts => ({
  clientId: one.clientId,
  claims: one.caps.includes('claim'),
  journalEpoch: one.journalEpoch,
  name: one.name,
  responsive: one.responsive,
});

const toListing = (
  one: ConnectedInstance,
  tools: string[],
  trips: readonly Trip[],
): ClientListing => ({
  client_id: one.clientId,
  name: one.name,
  kind: one.kind,
  connected: true,
  visible: one.visible,
  responsive: one.responsive,
  caps: [...one.caps],
  tools,
  connected_at: one.connectedAt / 1000,
  ...(trips.length === 0
    ? {}
    : { tripped: trips.map((trip) => ({ ...trip, until: trip.until / 1000 })) }),
  ...(one.permissions ? { permissions: { ...one.permissions } } : {}),
  ...(one.secureContext === undefined ? {} : { secure_context: one.secureContext }),
});
