import { sameJson } from '#lib/json/equal';
import { FairMap } from '#lib/limits/fair-map';
import type { Battery } from '#lib/protocol/client-messages';
import type { ClientListing } from '#lib/protocol/watch-messages';
import { given } from '#lib/util/given';
import type { InstanceFacts } from '../calls/room.ts';
import type { ClientAvailability, OpenCircuit } from '../tools/room.ts';

interface Instance {
  readonly clientId: string;
  readonly instanceId: string;
}

/** Connected instances by their id, and by their client: a client may have thousands of others beside it. */
class InstanceIndex<One extends Instance> {
  readonly #byId = new Map<string, One>();
  readonly #byClient = new Map<string, Set<string>>();

  get(instanceId: string): One | undefined {
    return this.#byId.get(instanceId);
  }

  values(): Iterable<One> {
    return this.#byId.values();
  }

  /** Ids of the client's instances. */
  idsOf(clientId: string): Iterable<string> {
    return this.#byClient.get(clientId) ?? [];
  }

  has(clientId: string): boolean {
    return this.#byClient.has(clientId);
  }

  /** Adds, or replaces by its id. */
  set(one: One): void {
    const { clientId, instanceId } = one;
    if (this.#byId.get(instanceId)?.clientId !== clientId) this.delete(instanceId);
    this.#byId.set(instanceId, one);
    const ids = this.#byClient.get(clientId) ?? new Set();
    this.#byClient.set(clientId, ids.add(instanceId));
  }

  /** False when there is no such instance. */
  delete(instanceId: string): boolean {
    const one = this.#byId.get(instanceId);
    if (!one) return false;
    this.#byId.delete(instanceId);
    const ids = this.#byClient.get(one.clientId);
    ids?.delete(instanceId);
    if (ids?.size === 0) this.#byClient.delete(one.clientId);
    return true;
  }
}

/** Instances may never come back: the oldest touch of the client with the most is forgotten. */
const MOST_TOUCHES = 1_000;

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
  readonly battery?: Battery | undefined;
  /** From the last probe to its answer. */
  readonly latencyMs?: number;
  readonly connectedAt: number;
}

/** The instances that are connected, and when a person last touched them. The client table alone changes it. */
export class ConnectedInstances extends InstanceIndex<ConnectedInstance> {
  /** By instance, also of those that are away (LT3). One that reports none counts from its connection. */
  readonly touches = new FairMap<number>(MOST_TOUCHES);

  /** The clients of a pool are asked in the order of this. */
  readonly availability = (instanceId: string): ClientAvailability =>
    toAvailability(this.get(instanceId), this.touches.get(instanceId));
}

const toAvailability = (
  one: ConnectedInstance | undefined,
  touchedAt: number | undefined,
): ClientAvailability => ({
  name: one?.name ?? 'a client that has left',
  visible: one?.visible ?? false,
  responsive: one?.responsive ?? false,
  lastTouchedAt: touchedAt ?? one?.connectedAt ?? 0,
});

export type ClientTable = ReturnType<typeof createClientTable>;

export interface ClientTableDeps {
  readonly instances: ConnectedInstances;
  now(): number;
  toolsOf(instanceId: string): string[];
  /** Called when the availability of an instance is another one. */
  availabilityChanged(instanceId: string): void;
  /** Tools whose calls it is not offered for a while. */
  openCircuitsOf?(instanceId: string): OpenCircuit[];
  /** Both know a client that was paired. */
  nameOf?(clientId: string): string | undefined;
  deviceIdOf?(clientId: string): string | undefined;
}

type Left = (instance: ConnectedInstance) => void;

type InstanceChange = Partial<
  Pick<
    ConnectedInstance,
    'visible' | 'responsive' | 'permissions' | 'secureContext' | 'battery' | 'latencyMs'
  >
>;

/** The instances that are connected to this process, whatever carries their messages. */
export function createClientTable(deps: ClientTableDeps) {
  const { instances } = deps;
  const changeListeners: ((clientId: string) => void)[] = [];
  const leftListeners: Left[] = [];
  const changed = ({ clientId, instanceId }: ConnectedInstance) => {
    deps.availabilityChanged(instanceId);
    for (const listener of changeListeners) listener(clientId);
  };
  const put = (before: ConnectedInstance, after: ConnectedInstance) => {
    instances.set(after);
    if (!sameJson(before, after)) changed(after);
  };
  const instancesOf = (clientId: string) =>
    [...instances.idsOf(clientId)].flatMap((id) => instances.get(id) ?? []);
  return {
    /** The names that people give to devices may be others now. */
    namesChanged(clientId: string): void {
      for (const one of instancesOf(clientId)) put(one, named(deps, one));
    },
    add(instance: ConnectedInstance): void {
      const one = named(deps, instance);
      instances.set(one);
      changed(one);
    },
    /** Publishes a change only when something that watchers see has changed. */
    update(instanceId: string, change: InstanceChange): void {
      const before = instances.get(instanceId);
      if (before) put(before, { ...before, ...change });
    },
    /** A person touched it so many milliseconds ago. What its program does by itself is not a touch. */
    touch(instanceId: string, agoMs = 0): void {
      const forgotten = keepTouch(deps, instanceId, agoMs);
      const one = instances.get(instanceId);
      if (one) changed(one);
      if (forgotten !== undefined) deps.availabilityChanged(forgotten);
    },
    remove(instanceId: string): void {
      const before = instances.get(instanceId);
      if (!before || !instances.delete(instanceId)) return;
      changed(before);
      for (const listener of leftListeners) listener(before);
    },
    get: (instanceId: string) => instances.get(instanceId),
    hasClient: (clientId: string) => instances.has(clientId),
    offersTools: (clientId: string) =>
      Iterator.from(instances.idsOf(clientId)).some((id) => deps.toolsOf(id).length > 0),
    facts: (instanceId: string) => toInfo(instances.get(instanceId)),
    instanceIds: (clientId: string) => [...instances.idsOf(clientId)],
    /** Lists all instances, or those of one client. */
    listings: (clientId?: string): ClientListing[] =>
      (clientId === undefined ? [...instances.values()] : instancesOf(clientId)).map((one) =>
        listingOf(deps, one),
      ),
    /** Calls back when what is listed of a client is new. */
    onChange: (listener: (clientId: string) => void) => void changeListeners.push(listener),
    /** Calls back when an instance of a client has left. */
    onLeft: (listener: Left) => void leftListeners.push(listener),
  };
}

/** Returns the instance whose touch was forgotten for it. */
function keepTouch({ instances, now }: ClientTableDeps, instanceId: string, agoMs: number) {
  const { lastTouchedAt } = instances.availability(instanceId);
  const touchedAt = Math.max(lastTouchedAt, now() - agoMs);
  const clientId = instances.get(instanceId)?.clientId ?? '';
  return instances.touches.put(clientId, instanceId, touchedAt);
}

/** A device is shown by the name that a person gave it. */
const named = ({ nameOf }: ClientTableDeps, one: ConnectedInstance): ConnectedInstance => ({
  ...one,
  name: nameOf?.(one.clientId) ?? one.name,
});

const listingOf = (deps: ClientTableDeps, one: ConnectedInstance): ClientListing => ({
  ...toListing(one, deps.toolsOf(one.instanceId), deps.openCircuitsOf?.(one.instanceId) ?? []),
  ...given({ device_id: deps.deviceIdOf?.(one.clientId) }),
});

const toInfo = (one: ConnectedInstance | undefined): InstanceFacts | undefined =>
  one && {
    clientId: one.clientId,
    claims: one.caps.includes('claim'),
    journalEpoch: one.journalEpoch,
    name: one.name,
    responsive: one.responsive,
  };

const toListing = (
  one: ConnectedInstance,
  tools: string[],
  openCircuits: readonly OpenCircuit[],
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
  ...(openCircuits.length > 0 && {
    tripped: openCircuits.map((one) => ({ ...one, until: one.until / 1_000 })),
  }),
  ...given({
    permissions: one.permissions && { ...one.permissions },
    battery: one.battery && { ...one.battery },
    latency_ms: one.latencyMs,
    secure_context: one.secureContext,
  }),
});
