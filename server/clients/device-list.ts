import type { AuditedActName } from '#lib/protocol/audited-acts';
import { type DeviceTool, MOST_DEVICE_TOOLS, type WireDevice } from '#lib/protocol/device';
import { HttpError } from '#lib/protocol/http-error';
import { createEmitter } from '#lib/util/emitter';
import { type Audit, byCaller, type Caller, type Tokens } from '../auth/room.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Change, Store } from '../store/room.ts';
import type { ClientTable } from './client-table.ts';
import {
  type Admission,
  bytesOf,
  type DeviceRecord,
  decideTools,
  deviceRecordSchema,
  offerTool,
  shownName,
  toKeptDevice,
  toWireDevice,
} from './device-record.ts';

/** What devices offer otherwise or anew is written this often at most. */
const OFFERS_EVERY_MS = 1_000;
/** Revoked ones that are still listed; those that were revoked first go first. */
const KEPT_REVOKED = 200;
/** When a device was connected last is written at most this often. */
const SEEN_EVERY_MS = 60_000;
/** The tools of the devices of one page have so much; one device alone may have half of it. */
const PAGE_BYTES = 4 * 1024 * 1024;

const UNDECIDABLE = {
  unknown:
    'One of these hashes is of no tool of the device that can be decided on: it changed meanwhile. Read the device again.',
  too_many: `A device may have ${MOST_DEVICE_TOOLS} allowed tools at most: deny some of them first.`,
} as const;

/** The person who acts, and from where. */
export interface By {
  readonly caller: Caller;
  readonly address: string;
}

export interface DeviceListDeps {
  readonly store: Pick<Store, 'write' | 'listKept'>;
  readonly tokens: Pick<
    Tokens,
    'createForDevice' | 'revoke' | 'isLive' | 'lastUsedAt' | 'onRevoked'
  >;
  readonly audit: Pick<Audit, 'record'>;
  readonly instances: Pick<ClientTable, 'hasClient'>;
  readonly clock: Clock;
  readonly newId: (prefix: 'dev' | 'client') => string;
  readonly logger: Logger;
}

export type NewDevice = Pick<
  DeviceRecord,
  'tokenHash' | 'name' | 'kind' | 'browser' | 'origin' | 'tools' | 'denied' | 'pairedBy'
>;

/**
 * The devices that people let in, and what people do to them. All of them are in memory, and each is on disk.
 * Each act is in the audit; what is refused is thrown as `HttpError`.
 */
export class DeviceList {
  readonly #deps: DeviceListDeps;
  /** Oldest first. */
  readonly #all = new Map<string, DeviceRecord>();
  readonly #idByClient = new Map<string, string>();
  readonly #idByToken = new Map<string, string>();
  readonly #changes;
  readonly #revocations;
  /** Devices whose offers are not written yet. */
  readonly #unwritten = new Set<string>();
  #cancelWrite: (() => void) | undefined;
  #isStopped = false;

  constructor(deps: DeviceListDeps) {
    this.#deps = deps;
    this.#changes = createEmitter<DeviceRecord>(deps.logger.error);
    this.#revocations = createEmitter<DeviceRecord>(deps.logger.error);
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
    const { name, tokenHash: hash, pairedBy } = asked;
    const made = {
      ...asked,
      deviceId: newId('dev'),
      clientId: newId('client'),
      pairedAt: clock.now(),
      lastSeenAt: null,
      revokedAt: null,
      waiting: [],
    };
    const withToken = (tokenId: string): Change[] => [
      { type: 'put_kept', entry: toKeptDevice({ ...made, tokenId }) },
      ...this.#forgetOldest(),
    ];
    const { clientId } = made;
    const asToken = { hash, name, clientId };
    const { id: tokenId } = await tokens.createForDevice(asToken, pairedBy, withToken);
    return this.#put({ ...made, tokenId });
  }

  /**
   * Newest first, fewer than `limit` where their tools are large; `before` is the id of the last one
   * of the page before, and `next` that of the next page, or null.
   */
  list({ before, limit }: { readonly before?: string; readonly limit: number }) {
    const rest = [...this.#all.values()]
      .sort((a, b) => (a.deviceId < b.deviceId ? 1 : -1))
      .filter(({ deviceId }) => before === undefined || deviceId < before);
    const page: DeviceRecord[] = [];
    let bytes = 0;
    for (const device of rest.slice(0, limit)) {
      bytes += bytesOf(device);
      if (page.length > 0 && bytes > PAGE_BYTES) break;
      page.push(device);
    }
    const next = rest.length > page.length ? (page.at(-1)?.deviceId ?? null) : null;
    return { devices: page.map((device) => this.#toWire(device)), next };
  }

  get(deviceId: string): WireDevice {
    return this.#toWire(this.find(deviceId));
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
    return this.#all.values().find((one) => one.tokenHash === tokenHash);
  }

  /** Tells that a page of this origin was let in. */
  hasOrigin(origin: string): boolean {
    return this.#live().some((one) => one.origin === origin);
  }

  get liveCount(): number {
    return this.#live().length;
  }

  get waitingCount(): number {
    return this.#live().filter(({ waiting }) => waiting.length > 0).length;
  }

  async rename(deviceId: string, name: string, by: By): Promise<WireDevice> {
    const { name: before } = this.#findLive(deviceId);
    const device = await this.#change(deviceId, { name: shownName(name) });
    return this.#audited(by, 'device_renamed', device, { before, name: device.name });
  }

  /** Its token opens nothing any more, which closes its sockets. Resolves when that is on disk. */
  async revoke(deviceId: string, by: By): Promise<WireDevice> {
    const { tokenId, revokedAt, name } = this.find(deviceId);
    if (revokedAt !== null) throw new HttpError('conflict', 'The device was revoked before.');
    await this.#deps.tokens.revoke(tokenId);
    return this.#audited(by, 'device_revoked', this.find(deviceId), { name });
  }

  async decideTools(
    deviceId: string,
    { allow, deny }: { readonly allow: readonly string[]; readonly deny: readonly string[] },
    by: By,
  ): Promise<WireDevice> {
    const before = this.#findLive(deviceId);
    const decided = decideTools(before, allow, deny);
    if (typeof decided !== 'object') throw new HttpError('conflict', UNDECIDABLE[decided]);
    const device = await this.#change(deviceId, decided);
    const known = [...before.waiting.map(({ tool }) => tool), ...before.denied, ...before.tools];
    const named = (hashes: readonly string[]) =>
      hashes.map((hash) => ({ name: known.find((one) => one.hash === hash)?.name, hash }));
    const detail = { allowed: named(allow), denied: named(deny) };
    return this.#audited(by, 'device_tools_decided', device, detail);
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
      this.#put(device);
      this.#unwritten.add(device.deviceId);
      const write = () => this.#writeOffers();
      this.#cancelWrite ??= this.#deps.clock.schedule(OFFERS_EVERY_MS, write);
    }
    return admissions;
  }

  /** The device was connected until now. */
  seen(clientId: string): void {
    const device = this.ofClient(clientId);
    const now = this.#deps.clock.now();
    if (!device || this.#isStopped || now - (device.lastSeenAt ?? 0) < SEEN_EVERY_MS) return;
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

  /** Writes what is not on disk yet. Sockets may close after the store: those of now were seen until now. */
  stop(): void {
    this.#cancelWrite?.();
    this.#writeOffers();
    for (const { clientId } of this.#live()) {
      if (this.#deps.instances.hasClient(clientId)) this.seen(clientId);
    }
    this.#isStopped = true;
  }

  /** A device that offers other tools all the time is written as rarely as one that does not (DV51). */
  #writeOffers(): void {
    this.#cancelWrite = undefined;
    const devices = [...this.#unwritten].flatMap((id) => this.#all.get(id) ?? []);
    this.#unwritten.clear();
    if (devices.length > 0 && !this.#isStopped) this.#write(devices).catch(this.#deps.logger.error);
  }

  #live(): DeviceRecord[] {
    return [...this.#all.values()].filter(({ revokedAt }) => revokedAt === null);
  }

  #findLive(deviceId: string): DeviceRecord {
    const device = this.find(deviceId);
    if (device.revokedAt === null) return device;
    throw new HttpError('conflict', 'The device was revoked: it is paired anew, as another one.');
  }

  async #change(deviceId: string, change: Partial<DeviceRecord>): Promise<DeviceRecord> {
    const after = this.#put({ ...this.find(deviceId), ...change });
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

  #put(device: DeviceRecord): DeviceRecord {
    this.#keep(device);
    this.#changes.emit(device);
    return device;
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

  #toWire(device: DeviceRecord): WireDevice {
    const { tokens, instances, clock } = this.#deps;
    const isThere = device.revokedAt === null && instances.hasClient(device.clientId);
    return toWireDevice(device, isThere ? clock.now() : tokens.lastUsedAt(device.tokenId));
  }

  async #audited(
    { caller, address }: By,
    act: AuditedActName,
    device: DeviceRecord,
    detail: Record<string, unknown>,
  ): Promise<WireDevice> {
    const of = { act, target: device.deviceId, detail };
    await this.#deps.audit.record(byCaller(caller, address, of));
    return this.#toWire(device);
  }
}
