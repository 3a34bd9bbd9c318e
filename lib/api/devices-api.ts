import type { ListedCall } from '../protocol/call-record.ts';
import type { BlockedOrigin, OpenedPairing, WireDevice, WirePairing } from '../protocol/device.ts';
import type { ApiResult } from './api-result.ts';
import type { Api } from './http-client.ts';

export interface PairingDecision {
  readonly decision: 'approve' | 'deny';
  readonly name?: string;
  /** Names of those that it may offer. */
  readonly tools?: readonly string[];
  readonly block?: boolean;
}

/** Pairing, and the devices that are paired; apart from the rest: the workbench loads without it. */
export interface DevicesApi {
  openPairing(): Promise<ApiResult<OpenedPairing>>;
  listPairings(): Promise<ApiResult<{ pairings: WirePairing[] }>>;
  decide(pairingId: string, decision: PairingDecision): Promise<ApiResult<WirePairing>>;
  withdraw(pairingId: string): Promise<ApiResult<unknown>>;
  /** A page, newest first, revoked ones as well. */
  listDevices(
    cursor?: string,
  ): Promise<ApiResult<{ devices: WireDevice[]; next_cursor: string | null }>>;
  rename(deviceId: string, name: string): Promise<ApiResult<WireDevice>>;
  revoke(deviceId: string): Promise<ApiResult<WireDevice>>;
  /** On tools that wait, by the hashes that the person saw. */
  decideTools(
    deviceId: string,
    decision: { readonly allow?: readonly string[]; readonly deny?: readonly string[] },
  ): Promise<ApiResult<WireDevice>>;
  /** Pages that may not ask. */
  listBlocked(): Promise<ApiResult<{ origins: BlockedOrigin[] }>>;
  liftBlocked(origin: string): Promise<ApiResult<unknown>>;
  /** Closes its connections; its program does not come back by itself. */
  disconnect(clientId: string): Promise<ApiResult<unknown>>;
  /** Its newest calls, large values by their beginning. */
  lastCalls(clientId: string): Promise<ApiResult<{ tool_calls: ListedCall[] }>>;
}

/** What the statistics of a device are of. */
export const LAST_CALLS = 50;

const at = (path: string, id: string, more = ''): string =>
  `${path}/${encodeURIComponent(id)}${more}`;

const PAIRINGS = '/v1/pairings';
const DEVICES = '/v1/devices';
const BLOCKED = '/v1/blocked-origins';

export const createDevicesApi = (request: Api['request']): DevicesApi => ({
  openPairing: () => request({ method: 'POST', path: PAIRINGS, body: {} }),
  listPairings: () => request({ method: 'GET', path: PAIRINGS }),
  decide: (id, body) => request({ method: 'POST', path: at(PAIRINGS, id, '/decision'), body }),
  withdraw: (id) => request({ method: 'DELETE', path: at(PAIRINGS, id) }),
  listDevices: (cursor) =>
    request({
      method: 'GET',
      path: cursor === undefined ? DEVICES : `${DEVICES}?cursor=${encodeURIComponent(cursor)}`,
    }),
  rename: (id, name) => request({ method: 'PUT', path: at(DEVICES, id), body: { name } }),
  revoke: (id) => request({ method: 'DELETE', path: at(DEVICES, id) }),
  decideTools: (id, body) => request({ method: 'POST', path: at(DEVICES, id, '/tools'), body }),
  listBlocked: () => request({ method: 'GET', path: BLOCKED }),
  liftBlocked: (origin) =>
    request({ method: 'DELETE', path: `${BLOCKED}?origin=${encodeURIComponent(origin)}` }),
  disconnect: (clientId) =>
    request({ method: 'POST', path: at('/v1/clients', clientId, '/disconnect'), body: {} }),
  lastCalls: (clientId) =>
    request({
      method: 'GET',
      path: `/v1/tool_calls?client=${encodeURIComponent(clientId)}&limit=${LAST_CALLS}`,
    }),
});
