import type { Battery } from '#lib/protocol/client-messages';
import { FairMap } from '#lib/util/fair-map';
import type { ClientAvailability } from '../tools/tool-registry.ts';
import { InstanceIndex } from './instance-index.ts';

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
