import { randomInt } from 'node:crypto';
import { hostname } from 'node:os';
import { z } from 'zod';
import { isLoopback } from '#lib/net/hosts';
import { closedObject } from '#lib/protocol/closed-object';
import { PAIRING_ALPHABET, PAIRING_CODE_CHARS } from '#lib/protocol/device';
import { createFailedAttempts, loadFingerprint } from '../auth/room.ts';
import type { EventBus } from '../events/room.ts';
import { DeviceList, type DeviceListDeps } from './device-list.ts';
import { DevicePairing, type PairingServiceDeps } from './pairing-service.ts';
import { BlockedOrigins, Pairings } from './pairings.ts';

/** A device may offer many tools at once, and each is a change. */
const GATHER_MS = 50;

/** Publishes that something of pairings or devices changed, at most once in a while. Returns a function that ends that. */
function publishDevices(
  { bus, clock }: Pick<OpenDevicesDeps, 'bus' | 'clock'>,
  pairings: Pairings,
  devices: DeviceList,
): () => void {
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

export interface OpenDevicesDeps extends DeviceListDeps {
  readonly bus: Pick<EventBus, 'publish'>;
  readonly newId: (prefix: 'dev' | 'client' | 'pair') => string;
}

/** Pages of other origins may ask a person to be let in, or may not. */
export const pairingConfigSchema = closedObject({
  pages: z.enum(['ask', 'off']).default('ask'),
}).prefault({});

/** Devices as an earlier server left them, and pairings, of which there are none yet. */
export async function openDevices(
  { pages }: z.infer<typeof pairingConfigSchema>,
  deps: OpenDevicesDeps,
) {
  const list = new DeviceList(deps);
  await list.load();
  const blocked = new BlockedOrigins(deps);
  await blocked.load();
  const pairings = new Pairings({ ...deps, newCode: newPairingCode });
  const stopPublishing = publishDevices(deps, pairings, list);
  /** Which pages of other origins may ask, and which are devices (DV rules of origins). */
  const origins = {
    /** A page of this origin may ask to be let in, as far as its origin goes. */
    mayAsk: (origin: string) => pages === 'ask' && isPageOrigin(origin),
    isPaired: (origin: string) => list.hasOrigin(origin),
    /** The origin that the device's token counts from alone; null where it has none. */
    originOf: (tokenId: string) => list.ofToken(tokenId)?.origin ?? null,
  };
  return {
    list,
    blocked,
    pairings,
    origins,
    stop() {
      stopPublishing();
      pairings.stop();
      list.stop();
    },
  };
}

export type DeviceOrigins = Awaited<ReturnType<typeof openDevices>>['origins'];
export type OpenedDevices = Awaited<ReturnType<typeof openDevices>>;

/** Pages of strangers ask at most so often from one address: those of one origin, and all of them. */
const KNOCKS_OF_ORIGIN = { count: 6, windowMs: 60_000 };
const KNOCKS_OF_ADDRESS = { count: 60, windowMs: 60_000 };

export interface PairingDeps
  extends Omit<PairingServiceDeps, 'devices' | 'pairings' | 'blocked' | 'workbench' | 'knocks'> {
  readonly devices: OpenedDevices;
}

/** How devices get in. `name`: of the workbench. */
export async function createPairing(
  { name, dataDir }: { readonly name: string | undefined; readonly dataDir: string },
  deps: PairingDeps,
): Promise<DevicePairing> {
  const { list: devices, pairings, blocked } = deps.devices;
  return new DevicePairing({
    ...deps,
    devices,
    pairings,
    blocked,
    workbench: {
      name: name ?? (hostname().split('.')[0] || 'Callboard'),
      fingerprint: await loadFingerprint(dataDir),
    },
    knocks: {
      ofOrigin: createFailedAttempts(deps.clock, KNOCKS_OF_ORIGIN),
      ofAddress: createFailedAttempts(deps.clock, KNOCKS_OF_ADDRESS),
    },
  });
}

/** An origin in its own spelling, of a page whose connection others cannot change. */
function isPageOrigin(origin: string): boolean {
  const parsed = origin.length <= 512 ? URL.parse(origin) : null;
  if (parsed?.origin !== origin) return false;
  return (
    parsed.protocol === 'https:' || (parsed.protocol === 'http:' && isLoopback(parsed.hostname))
  );
}

/** 39 random bits, each sign by itself, none more likely than another. */
export const newPairingCode = (): string =>
  Array.from(
    { length: PAIRING_CODE_CHARS },
    () => PAIRING_ALPHABET[randomInt(PAIRING_ALPHABET.length)],
  ).join('');
