import type { Via } from '#lib/call/call-event';
import type { ClientMessageOf } from '#lib/protocol/client-messages';
import type { ServerMessage } from '#lib/protocol/server-messages';
import type { ClientInstances } from '../calls/room.ts';
import { type EventBus, instanceAddress } from '../events/room.ts';
import type { ToolRegistry } from '../tools/room.ts';
import type { ClientTable, ConnectedInstance } from './client-table.ts';

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
