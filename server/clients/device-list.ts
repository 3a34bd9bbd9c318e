import { type DeviceTool, MOST_DEVICE_TOOLS } from '#lib/protocol/device';
import { HttpError } from '#lib/protocol/http-error';
import { createEmitter } from '#lib/util/emitter';
import type { Audit, Tokens } from '../auth/room.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Change, Store } from '../store/room.ts';
import {
  type Admission,
  type DeviceRecord,
  decideTools,
  deviceRecordSchema,
  offerTool,
  shownName,
  toKeptDevice,
} from './device-record.ts';

/** A record is written this often at most. */
const EVERY_MS = 1_000;

/** Writes a record at once, and what changes shortly after in one further write (rule DV51). */
function createWriteGate(clock: Pick<Clock, 'schedule'>, write: (key: string) => void) {
  /** Records that were written lately, and whether they changed since. */
  const resting = new Map<string, { isStale: boolean; readonly cancel: () => void }>();
  const rest = (key: string): void => {
    write(key);
    const cancel = clock.schedule(EVERY_MS, () => {
      const isStale = resting.get(key)?.isStale;
      resting.delete(key);
      if (isStale) rest(key);
    });
    resting.set(key, { isStale: false, cancel });
  };
  return {
    changed(key: string): void {
      const known = resting.get(key);
      if (known) known.isStale = true;
      else rest(key);
    },
    stop(): void {
      for (const [key, { isStale, cancel }] of resting) {
        cancel();
        if (isStale) write(key);
      }
      resting.clear();
    },
  };
}

/** Revoked ones that are still listed; those that were revoked first go first. */
const KEPT_REVOKED = 200;
/** When a device was connected last is written at most this often. */
const SEEN_EVERY_MS = 60_000;

const UNDECIDABLE = {
  unknown:
    'One of these hashes is of no tool of the device that can be decided on: it changed meanwhile. Read the device again.',
  too_many: `A device may have ${MOST_DEVICE_TOOLS} allowed tools at most: deny some of them first.`,
} as const;

export interface DeviceListDeps {
  readonly store: Pick<Store, 'write' | 'listKept'>;
  readonly tokens: Pick<Tokens, 'createForDevice' | 'revoke' | 'isLive' | 'onRevoked'>;
  readonly audit: Pick<Audit, 'record'>;
  readonly clock: Clock;
  readonly newId: (prefix: 'dev' | 'client') => string;
  readonly logger: Logger;
}

export type NewDevice = Pick<
  DeviceRecord,
  'tokenHash' | 'name' | 'kind' | 'browser' | 'origin' | 'tools' | 'denied' | 'pairedBy'
>;

/** The devices that people let in. All of them are in memory, and each is on disk. */
export class DeviceList {
  readonly #deps: DeviceListDeps;
  /** Oldest first. */
  readonly #all = new Map<string, DeviceRecord>();
  readonly #idByClient = new Map<string, string>();
  readonly #idByToken = new Map<string, string>();
  readonly #changes;
  readonly #revocations;
  readonly #offers;

  constructor(deps: DeviceListDeps) {
    this.#deps = deps;
    this.#changes = createEmitter<DeviceRecord>(deps.logger.error);
    this.#revocations = createEmitter<DeviceRecord>(deps.logger.error);
    this.#offers = createWriteGate(deps.clock, (deviceId) => {
      const device = this.#all.get(deviceId);
      if (device) this.#write([device]).catch(deps.logger.error);
    });
    deps.tokens.onRevoked((tokenId) => this.#tokenRevoked(tokenId));
  }

  /** Takes up what an earlier server kept. Once, behind the tokens. */
  async load(): Promise<void> {
    for (const { value } of await this.#deps.store.listKept('device')) {
      const device = deviceRecordSchema.parse(value);
      const isRevoked = device.revokedAt !== null || this.#deps.tokens.isLive(device.tokenId);
      this.#keep(isRevoked ? device : { ...device, revokedAt: this.#deps.clock.now() });
    }
  }

  /** Resolves when the device and its token are on disk. */
  async create(asked: NewDevice): Promise<DeviceRecord> {
    const { clock, newId, tokens } = this.#deps;
    const [deviceId, clientId] = [newId('dev'), newId('client')];
    const { name, tokenHash: hash, pairedBy } = asked;
    let device: DeviceRecord | undefined;
    const withToken = (tokenId: string): Change[] => {
      device = {
        ...asked,
        deviceId,
        clientId,
        tokenId,
        pairedAt: clock.now(),
        lastSeenAt: null,
        revokedAt: null,
        waiting: [],
      };
      return [{ type: 'put_kept', entry: toKeptDevice(device) }, ...this.#forgetOldest()];
    };
    const created = await tokens.createForDevice({ hash, name, clientId }, pairedBy, withToken);
    if (!created.ok) throw new HttpError(created.code, created.message);
    if (!device) throw new Error('a device without a token');
    this.#keep(device);
    this.#changes.emit(device);
    return device;
  }

  /** Newest first. */
  list(): DeviceRecord[] {
    return [...this.#all.values()].reverse();
  }

  find(deviceId: string): DeviceRecord {
    const device = this.#all.get(deviceId);
    if (device) return device;
    const shown = JSON.stringify(deviceId.slice(0, 128));
    throw new HttpError('not_found', `There is no device ${shown}; GET /v1/devices lists them.`);
  }

  ofClient(clientId: string): DeviceRecord | undefined {
    return this.#all.get(this.#idByClient.get(clientId) ?? '');
  }

  ofToken(tokenId: string): DeviceRecord | undefined {
    return this.#all.get(this.#idByToken.get(tokenId) ?? '');
  }

  ofTokenHash(tokenHash: string): DeviceRecord | undefined {
    return this.list().find((one) => one.tokenHash === tokenHash);
  }

  /** Tells that a page of this origin was let in. */
  hasOrigin(origin: string): boolean {
    return this.list().some((one) => one.origin === origin && one.revokedAt === null);
  }

  get liveCount(): number {
    return this.list().filter((one) => one.revokedAt === null).length;
  }

  get waitingCount(): number {
    return this.list().filter((one) => one.revokedAt === null && one.waiting.length > 0).length;
  }

  async rename(deviceId: string, name: string): Promise<DeviceRecord> {
    return this.#change(this.#live(deviceId), { name: shownName(name) });
  }

  /**
   * Its token opens nothing any more, which closes its sockets. Resolves when that is on disk, and
   * with false where it was revoked before.
   */
  async revoke(deviceId: string): Promise<boolean> {
    const { tokenId, revokedAt } = this.find(deviceId);
    if (revokedAt !== null) return false;
    await this.#deps.tokens.revoke(tokenId);
    return true;
  }

  async decideTools(
    deviceId: string,
    allow: readonly string[],
    deny: readonly string[],
  ): Promise<DeviceRecord> {
    const device = this.#live(deviceId);
    const decided = decideTools(device, allow, deny);
    if (typeof decided === 'object') return this.#change(device, decided);
    throw new HttpError('conflict', UNDECIDABLE[decided]);
  }

  /** Undefined: it is no device's. Those that wait are on the record of the device from now on. */
  offer(
    clientId: string,
    tools: readonly DeviceTool[],
  ): ReadonlyMap<string, Admission> | undefined {
    const known = this.ofClient(clientId);
    if (!known) return undefined;
    let device = known;
    const admissions = new Map<string, Admission>();
    for (const tool of tools) {
      if (known.revokedAt !== null) {
        admissions.set(tool.hash, 'denied');
        continue;
      }
      const offered = offerTool(device, tool, this.#deps.clock.now());
      device = offered.device;
      admissions.set(tool.hash, offered.admission);
    }
    if (device !== known) {
      this.#keep(device);
      this.#changes.emit(device);
      this.#offers.changed(device.deviceId);
    }
    return admissions;
  }

  /** The device was connected until now. */
  seen(clientId: string): void {
    const device = this.ofClient(clientId);
    const now = this.#deps.clock.now();
    if (!device || now - (device.lastSeenAt ?? 0) < SEEN_EVERY_MS) return;
    const after = { ...device, lastSeenAt: now };
    this.#keep(after);
    this.#write([after], { mayWait: true }).catch(this.#deps.logger.error);
  }

  /** Called with each device that is new or other than before. Returns a function that unsubscribes. */
  onChange(listener: (device: DeviceRecord) => void): () => void {
    return this.#changes.subscribe(listener);
  }

  onRevoked(listener: (device: DeviceRecord) => void): () => void {
    return this.#revocations.subscribe(listener);
  }

  /** Writes what is not on disk yet. */
  stop(): void {
    this.#offers.stop();
  }

  #live(deviceId: string): DeviceRecord {
    const device = this.find(deviceId);
    if (device.revokedAt === null) return device;
    throw new HttpError('conflict', 'The device was revoked: it is paired anew, as another one.');
  }

  async #change(device: DeviceRecord, change: Partial<DeviceRecord>): Promise<DeviceRecord> {
    const after = { ...device, ...change };
    this.#keep(after);
    this.#changes.emit(after);
    await this.#write([after]);
    return after;
  }

  #tokenRevoked(tokenId: string): void {
    const device = this.ofToken(tokenId);
    if (!device || device.revokedAt !== null) return;
    const after = { ...device, revokedAt: this.#deps.clock.now(), waiting: [] };
    this.#keep(after);
    this.#revocations.emit(after);
    this.#changes.emit(after);
    this.#write([after]).catch(this.#deps.logger.error);
  }

  #keep(device: DeviceRecord): void {
    this.#all.set(device.deviceId, device);
    this.#idByClient.set(device.clientId, device.deviceId);
    this.#idByToken.set(device.tokenId, device.deviceId);
  }

  /** Client ids stay taken: they have the form that is never chosen by others. */
  #forgetOldest(): Change[] {
    const revoked = [...this.#all.values()].filter(({ revokedAt }) => revokedAt !== null);
    const byAge = revoked.toSorted((a, b) => (a.revokedAt ?? 0) - (b.revokedAt ?? 0));
    const oldest = byAge.slice(0, Math.max(0, revoked.length - KEPT_REVOKED));
    for (const { deviceId, clientId, tokenId } of oldest) {
      this.#all.delete(deviceId);
      this.#idByClient.delete(clientId);
      this.#idByToken.delete(tokenId);
    }
    return oldest.map(({ deviceId: key }) => ({ type: 'delete_kept', area: 'device', key }));
  }

  #write(devices: readonly DeviceRecord[], options = {}): Promise<void> {
    const changes = devices.map(
      (device): Change => ({ type: 'put_kept', entry: toKeptDevice(device) }),
    );
    return this.#deps.store.write(changes, options);
  }
}
