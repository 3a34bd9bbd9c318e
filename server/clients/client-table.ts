import type { Via } from '#lib/call/call-event';
import { sameJson } from '#lib/json/equal';
import { FairMap } from '#lib/limits/fair-map';
import type { Battery, ClientMessageOf } from '#lib/protocol/client-messages';
import type { ServerMessage } from '#lib/protocol/server-messages';
import type { ClientInstances, InstanceFacts } from '../calls/room.ts';
import { type EventBus, instanceAddress } from '../events/room.ts';
import type { ClientAvailability, ToolRegistry } from '../tools/room.ts';

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
  readonly permissions?: Readonly<Record<string, string>> | undefined;
  readonly secureContext?: boolean | undefined;
  readonly battery?: Battery | undefined;
  /** From the last probe to its answer. */
  readonly latencyMs?: number;
  readonly connectedAt: number;
}

type InstanceChange = Partial<Omit<ConnectedInstance, 'clientId' | 'instanceId'>>;
type Listener = (instance: ConnectedInstance) => void;

export type ClientTable = ReturnType<typeof createClientTable>;

/** The instances that are connected to this process, and when a person last touched them. */
export function createClientTable(now: () => number) {
  const byId = new Map<string, ConnectedInstance>();
  /** A client may have thousands of others beside it. */
  const byClient = new Map<string, Set<string>>();
  /** By instance, also of those that are away (LT3). One that reports none counts from its connection. */
  const touches = new FairMap<number>(MOST_TOUCHES);
  const changeListeners: Listener[] = [];
  const leftListeners: Listener[] = [];

  const changed = (one: ConnectedInstance | undefined) => {
    if (one) for (const listener of changeListeners) listener(one);
  };
  const touchedAt = (instanceId: string) =>
    touches.get(instanceId) ?? byId.get(instanceId)?.connectedAt ?? 0;
  const idsOf = (clientId: string): string[] => [...(byClient.get(clientId) ?? [])];
  /** Publishes a change only when something that watchers see has changed. */
  const update = (instanceId: string, change: InstanceChange): void => {
    const before = byId.get(instanceId);
    if (!before) return;
    const after = { ...before, ...change };
    byId.set(instanceId, after);
    if (!sameJson(before, after)) changed(after);
  };
  const take = (instanceId: string): ConnectedInstance | undefined => {
    const one = byId.get(instanceId);
    if (!one || !byId.delete(instanceId)) return undefined;
    const ids = byClient.get(one.clientId);
    ids?.delete(instanceId);
    if (ids?.size === 0) byClient.delete(one.clientId);
    return one;
  };

  return {
    /** The clients of a pool are asked in the order of this. */
    availability: (instanceId: string): ClientAvailability => {
      const { name, visible = false, responsive = false } = byId.get(instanceId) ?? LEFT;
      return { name, visible, responsive, lastTouchedAt: touchedAt(instanceId) };
    },
    add(one: ConnectedInstance): void {
      take(one.instanceId);
      byId.set(one.instanceId, one);
      byClient.set(one.clientId, (byClient.get(one.clientId) ?? new Set()).add(one.instanceId));
      changed(one);
    },
    update,
    /** A device is shown by the name that a person gave it. */
    rename(clientId: string, name: string): void {
      for (const instanceId of idsOf(clientId)) update(instanceId, { name });
    },
    /** A person touched it so many milliseconds ago. What its program does by itself is not a touch. */
    touch(instanceId: string, agoMs = 0): void {
      const at = Math.max(touchedAt(instanceId), now() - agoMs);
      const one = byId.get(instanceId);
      const forgotten = touches.put(one?.clientId ?? '', instanceId, at);
      changed(one);
      changed(byId.get(forgotten ?? ''));
    },
    remove(instanceId: string): void {
      const one = take(instanceId);
      if (!one) return;
      changed(one);
      for (const listener of leftListeners) listener(one);
    },
    get: (instanceId: string) => byId.get(instanceId),
    hasClient: (clientId: string) => byClient.has(clientId),
    facts: (instanceId: string): InstanceFacts | undefined => {
      const one = byId.get(instanceId);
      if (!one) return undefined;
      const { clientId, journalEpoch, name, responsive } = one;
      return { clientId, claims: one.caps.includes('claim'), journalEpoch, name, responsive };
    },
    instanceIds: idsOf,
    /** All instances, or those of one client. */
    instances: (clientId?: string): ConnectedInstance[] =>
      clientId === undefined
        ? [...byId.values()]
        : idsOf(clientId).flatMap((id) => byId.get(id) ?? []),
    /** Calls back when an instance is new, other than before, or has left. */
    onChange: (listener: Listener) => void changeListeners.push(listener),
    /** Calls back when an instance of a client has left. */
    onLeft: (listener: Listener) => void leftListeners.push(listener),
  };
}

const LEFT: InstanceChange & { readonly name: string } = { name: 'a client that has left' };

/** The way to a client's program: a socket, or the mailbox that the program polls. */
export interface ClientChannel {
  send(message: ServerMessage): void;
  close(code: number, reason: string): void;
}

export interface PresenceDeps {
  readonly bus: Pick<EventBus, 'openInbox'>;
  readonly registry: Pick<ToolRegistry, 'drop'>;
  readonly table: Pick<ClientTable, 'add' | 'remove'>;
  readonly instances: Pick<ClientInstances, 'back' | 'disconnected'>;
  /** The name that a person gave to a device. */
  nameOf?(clientId: string): string | undefined;
}

type KnownCalls = NonNullable<ClientMessageOf<'hello'>['known']>;

/**
 * A client instance as long as it is connected, by whatever channel: messages
 * to it arrive, it is listed, and its tools can be called. The constructor begins it.
 */
export class Presence {
  readonly #deps: PresenceDeps;
  readonly #instance: ConnectedInstance;
  readonly #closeInbox: () => void;

  constructor(deps: PresenceDeps, instance: ConnectedInstance, channel: ClientChannel) {
    const { clientId, instanceId } = instance;
    this.#deps = deps;
    this.#instance = instance;
    this.#closeInbox = deps.bus.openInbox(instanceAddress(clientId, instanceId), (message) => {
      if (message.type === 'send') channel.send(message.message);
      else channel.close(message.code, message.reason);
    });
    deps.table.add({ ...instance, name: deps.nameOf?.(clientId) ?? instance.name });
  }

  /** Continues the calls of a returning instance; resolves with those to forget and to cancel. */
  resumeCalls(known: KnownCalls, via?: Via): Promise<{ forget: string[]; cancel: string[] }> {
    const { clientId, instanceId, journalEpoch } = this.#instance;
    return this.#deps.instances.back({ clientId, instanceId, journalEpoch, known, via });
  }

  /** A newer session of the instance takes its place, and its calls. */
  supersede(): void {
    const { instanceId } = this.#instance;
    this.#closeInbox();
    // guard: closed-socket-offers-nothing
    this.#deps.registry.drop(instanceId);
    this.#deps.table.remove(instanceId);
  }

  /** The instance is gone: its calls wait for it, or go to others. */
  end(): void {
    this.supersede();
    this.#deps.instances.disconnected(this.#instance.instanceId);
  }
}
