import type { ListedCall } from '../protocol/call-record.ts';
import type { BlockedOrigin, OpenedPairing, WireDevice, WirePairing } from '../protocol/device.ts';
import type { Api } from './http-client.ts';
import { pathOf, queryOf } from './send-request.ts';

export interface PairingDecision {
  readonly decision: 'approve' | 'deny';
  readonly name?: string;
  /** Names of those that it may offer. */
  readonly tools?: readonly string[];
  readonly block?: boolean;
}

/** The statistics of a device are of so many calls. */
export const LAST_CALLS = 50;

const PAIRINGS = '/v1/pairings';
const BLOCKED = '/v1/blocked-origins';

/** Pairing, and the devices that are paired; apart from the rest: the workbench loads without it. */
export const createDevicesApi = (request: Api['request']) => ({
  openPairing: () => request<OpenedPairing>({ method: 'POST', path: PAIRINGS, body: {} }),
  listPairings: () => request<{ pairings: WirePairing[] }>({ method: 'GET', path: PAIRINGS }),
  decide: (id: string, body: PairingDecision) =>
    request<WirePairing>({ method: 'POST', path: pathOf`/v1/pairings/${id}/decision`, body }),
  withdraw: (id: string) => request({ method: 'DELETE', path: pathOf`/v1/pairings/${id}` }),
  /** A page, newest first, revoked ones as well. */
  listDevices: (cursor?: string) => {
    const path = `/v1/devices${queryOf({ cursor })}`;
    return request<{ devices: WireDevice[]; next_cursor: string | null }>({ method: 'GET', path });
  },
  rename: (id: string, name: string) =>
    request<WireDevice>({ method: 'PUT', path: pathOf`/v1/devices/${id}`, body: { name } }),
  revoke: (id: string) =>
    request<WireDevice>({ method: 'DELETE', path: pathOf`/v1/devices/${id}` }),
  /** On tools that wait, by the hashes that the person saw. */
  decideTools: (
    id: string,
    body: { readonly allow?: readonly string[]; readonly deny?: readonly string[] },
  ) => request<WireDevice>({ method: 'POST', path: pathOf`/v1/devices/${id}/tools`, body }),
  /** Pages that may not ask. */
  listBlocked: () => request<{ origins: BlockedOrigin[] }>({ method: 'GET', path: BLOCKED }),
  liftBlocked: (origin: string) =>
    request({ method: 'DELETE', path: `${BLOCKED}${queryOf({ origin })}` }),
  /** Closes its connections; its program does not come back by itself. */
  disconnect: (clientId: string) =>
    request({ method: 'POST', path: pathOf`/v1/clients/${clientId}/disconnect`, body: {} }),
  /** Its newest calls, large values by their beginning. */
  lastCalls: (clientId: string) => {
    const path = `/v1/tool_calls${queryOf({ client: clientId, limit: LAST_CALLS })}`;
    return request<{ tool_calls: ListedCall[] }>({ method: 'GET', path });
  },
});
