import type { ClientListing } from '#lib/protocol/watch-messages';
import type { OpenedDevices } from '../clients/room.ts';
import { createShownCalls, createSnapshots, type SnapshotDeps } from './snapshot.ts';
import { WatchHub, type WatchHubDeps } from './watch-hub.ts';
import { createWatchSocketHandler, type WatchSocketDeps } from './watch-socket.ts';
import { createWholeLists } from './whole-lists.ts';

export { publishListings } from './publish-listings.ts';
export { publishApproval } from './snapshot.ts';

export interface WatchDeps
  extends Omit<SnapshotDeps, 'clients' | 'devices' | 'publishNow'>,
    Omit<WatchHubDeps, 'snapshot' | 'lists'>,
    Omit<WatchSocketDeps, 'hub'> {
  readonly bus: WatchHubDeps['bus'];
  readonly calls: SnapshotDeps['calls'] & WatchSocketDeps['calls'];
  readonly table: { listings(this: void): ClientListing[] };
  readonly devices: Pick<OpenedDevices, 'list' | 'pairings'>;
  readonly listings: { publishNow(this: void): void };
}

/** Watchers are shown a snapshot and then what happens, over their socket. */
export function createWatch(deps: WatchDeps) {
  const { bus, registry, table, listings } = deps;
  const { list, pairings } = deps.devices;
  const listed = { bus, registry, clients: table.listings, publishNow: listings.publishNow };
  const devices = () => ({ asking: pairings.asking, waiting: list.waitingCount });
  const snapshot = createSnapshots({ ...deps, ...listed, devices });
  const lists = createWholeLists(listed);
  const hub = new WatchHub({ ...deps, snapshot, lists });
  const shownCalls = createShownCalls(deps);
  return { snapshot, shownCalls, hub, onSocket: createWatchSocketHandler({ ...deps, hub }) };
}
