import type { Clock } from '../clock.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { DeviceList } from './device-list.ts';
import type { Pairings } from './pairings.ts';

/** A device may offer many tools at once, and each is a change. */
const GATHER_MS = 50;

/** Publishes that something of pairings or devices changed, at most once in a while. Returns a function that ends that. */
export function publishDevices({
  bus,
  clock,
  pairings,
  devices,
}: {
  readonly bus: Pick<EventBus, 'publish'>;
  readonly clock: Clock;
  readonly pairings: Pick<Pairings, 'onChange' | 'asking'>;
  readonly devices: Pick<DeviceList, 'onChange' | 'waitingCount'>;
}): () => void {
  let cancel: (() => void) | undefined;
  const publish = () => {
    cancel = undefined;
    bus.publish({ type: 'devices', asking: pairings.asking, waiting: devices.waitingCount });
  };
  const changed = () => {
    cancel ??= clock.schedule(GATHER_MS, publish);
  };
  const stops = [pairings.onChange(changed), devices.onChange(changed)];
  return () => {
    for (const stop of stops) stop();
    cancel?.();
  };
}
