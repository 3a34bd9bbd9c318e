import type { WireDevice } from '#lib/protocol/device';
import type { ClientListing } from '#lib/protocol/watch-messages';

/** One client as the page shows it: paired or not, here or not. */
export interface DeviceRow {
  readonly clientId: string;
  readonly name: string;
  readonly kind: ClientListing['kind'];
  /** Its tabs, or its program, as far as they are connected. */
  readonly instances: readonly ClientListing[];
  /** Null: it was not paired; it uses the credential of a person, or a token of old. */
  readonly device: WireDevice | null;
}

/** Those that are here first, then by when they were seen last; revoked ones are behind all. */
export function deviceRows(
  devices: readonly WireDevice[],
  clients: readonly ClientListing[],
): DeviceRow[] {
  const byClient = Map.groupBy(clients, ({ client_id }) => client_id);
  const paired = devices.map((device): DeviceRow => {
    const instances = byClient.get(device.client_id) ?? [];
    byClient.delete(device.client_id);
    const { client_id: clientId, name, kind } = device;
    return { clientId, name, kind, instances, device };
  });
  const others = [...byClient].flatMap(([clientId, instances]): DeviceRow[] => {
    const [first] = instances;
    return first
      ? [{ clientId, name: first.name || clientId, kind: first.kind, instances, device: null }]
      : [];
  });
  return [...paired, ...others].toSorted((a, b) => rank(a) - rank(b) || lastSeen(b) - lastSeen(a));
}

function rank({ instances, device }: DeviceRow): number {
  if (device?.revoked_at != null) return 3;
  if (instances.length === 0) return 2;
  return device ? 0 : 1;
}

const lastSeen = ({ device, instances }: DeviceRow): number =>
  device?.last_seen_at ?? instances[0]?.connected_at ?? 0;

/** How it can be reached now, in one word. */
export type Presence = 'online' | 'visible' | 'hidden' | 'silent' | 'offline' | 'revoked';

export function presenceOf({ instances, device, kind }: DeviceRow): Presence {
  if (device?.revoked_at != null) return 'revoked';
  if (instances.length === 0) return 'offline';
  const answering = instances.filter(({ responsive }) => responsive);
  if (answering.length === 0) return 'silent';
  // A program has no page that could be in front.
  if (kind === 'program') return 'online';
  return answering.some(({ visible }) => visible) ? 'visible' : 'hidden';
}
