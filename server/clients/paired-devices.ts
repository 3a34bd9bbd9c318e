import type { AuditedActName } from '#lib/protocol/audited-acts';
import type { WireDevice } from '#lib/protocol/device';
import { HttpError } from '#lib/protocol/http-error';
import { type Audit, byCaller, type Caller, type Tokens } from '../auth/room.ts';
import type { Clock } from '../base/clock.ts';
import type { DeviceList } from './device-list.ts';
import { bytesOf, type DeviceRecord, toWireDevice } from './device-record.ts';

/** The tools of the devices of one page have so much; one device alone may have half of it. */
const PAGE_BYTES = 4 * 1024 * 1024;

/** The person who acts, and from where. */
export interface By {
  readonly caller: Caller;
  readonly address: string;
}

export interface PairedDevicesDeps {
  readonly devices: DeviceList;
  readonly tokens: Pick<Tokens, 'lastUsedAt'>;
  readonly isConnected: (clientId: string) => boolean;
  readonly audit: Pick<Audit, 'record'>;
  readonly clock: Clock;
}

export type DeviceService = Pick<PairedDevices, keyof PairedDevices>;

/**
 * Shows people the devices that were let in, and does what they do to them. Each act is in the audit; what is
 * refused is thrown as `HttpError`.
 */
export class PairedDevices {
  readonly #deps: PairedDevicesDeps;

  constructor(deps: PairedDevicesDeps) {
    this.#deps = deps;
  }

  /**
   * Newest first, fewer than `limit` where their tools are large; `before` is the id of the last one
   * of the page before, and `next` that of the next page, or null.
   */
  list({ before, limit }: { readonly before?: string; readonly limit: number }) {
    const rest = this.#deps.devices
      .list()
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
    return this.#toWire(this.#deps.devices.find(deviceId));
  }

  async rename(deviceId: string, name: string, by: By): Promise<WireDevice> {
    const { name: before } = this.#deps.devices.find(deviceId);
    const device = await this.#deps.devices.rename(deviceId, name);
    await this.#audit(by, 'device_renamed', deviceId, { before, name: device.name });
    return this.#toWire(device);
  }

  async revoke(deviceId: string, by: By): Promise<WireDevice> {
    if (!(await this.#deps.devices.revoke(deviceId))) {
      throw new HttpError('conflict', 'The device was revoked before.');
    }
    const device = this.#deps.devices.find(deviceId);
    await this.#audit(by, 'device_revoked', deviceId, { name: device.name });
    return this.#toWire(device);
  }

  async decideTools(
    deviceId: string,
    { allow, deny }: { readonly allow: readonly string[]; readonly deny: readonly string[] },
    by: By,
  ): Promise<WireDevice> {
    const before = this.#deps.devices.find(deviceId);
    const known = [...before.waiting.map(({ tool }) => tool), ...before.denied, ...before.tools];
    const device = await this.#deps.devices.decideTools(deviceId, allow, deny);
    const named = (hashes: readonly string[]) =>
      hashes.map((hash) => ({ name: known.find((one) => one.hash === hash)?.name, hash }));
    const detail = { allowed: named(allow), denied: named(deny) };
    await this.#audit(by, 'device_tools_decided', deviceId, detail);
    return this.#toWire(device);
  }

  #toWire(device: DeviceRecord): WireDevice {
    const { tokens, isConnected, clock } = this.#deps;
    const isThere = device.revokedAt === null && isConnected(device.clientId);
    return toWireDevice(device, isThere ? clock.now() : tokens.lastUsedAt(device.tokenId));
  }

  #audit(
    { caller, address }: By,
    act: AuditedActName,
    target: string,
    detail: Record<string, unknown>,
  ): Promise<void> {
    return this.#deps.audit.record(byCaller(caller, address, { act, target, detail }));
  }
}
