import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Snapshot, WatchEvent } from '../protocol/watch-messages.ts';

/** Counts what of pairing waits for a person; a page that shows details fetches them. */
export interface DevicesState {
  /** Devices that ask to be let in. */
  readonly asking: number;
  /** Devices with tools that wait to be allowed. */
  readonly waiting: number;
  /** Rises whenever something of pairings or devices may be another: with each event and snapshot. */
  readonly changes: number;
}

export interface DevicesActions {
  apply(events: readonly WatchEvent[]): void;
  replace(snapshot: Pick<Snapshot, 'devices'>): void;
}

export type DevicesStore = StoreApi<DevicesState & DevicesActions>;

export const createDevicesStore = (): DevicesStore =>
  createStore((set) => ({
    asking: 0,
    waiting: 0,
    changes: 0,
    apply: (events) => {
      const last = events.findLast((event) => event.type === 'devices');
      if (!last) return;
      const { asking, waiting } = last;
      set(({ changes }) => ({ asking, waiting, changes: changes + 1 }));
    },
    replace: ({ devices = { asking: 0, waiting: 0 } }) =>
      set(({ changes }) => ({ ...devices, changes: changes + 1 })),
  }));
