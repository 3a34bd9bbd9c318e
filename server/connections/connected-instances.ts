import { FairMap } from '#lib/limits/fair-map';
import type { Battery } from '#lib/protocol/client-messages';
import type { ClientAvailability } from '../tools/room.ts';

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

/** Of instances that never come back, touches are forgotten: the oldest of the client with the most. */
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
  /** As it reported it. */
  readonly battery?: Battery | undefined;
  /** From the last probe to its answer. */
  readonly latencyMs?: number;
  readonly connectedAt: number;
}

/** The instances that are connected, and when a person last touched them. The client table alone changes it. */
export class ConnectedInstances extends InstanceIndex<ConnectedInstance> {
  /** By instance, also of those that are away (LT3). One that reports none counts from its connection. */
  readonly touches = new FairMap<number>(MOST_TOUCHES);

  /** For the order in which the clients of a pool are asked. */
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
