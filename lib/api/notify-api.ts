import type { WireDeliveries, WireDelivery, WireTarget, WireTargets } from '../protocol/notify.ts';
import type { Api } from './http-client.ts';

const TARGETS = '/v1/notify/targets';
const DELIVERIES = '/v1/notify/deliveries';

/** Notifications that leave the server, apart from the rest: the workbench loads without it. */
export const createNotifyApi = (request: Api['request']) => ({
  listTargets: () => request<WireTargets>({ method: 'GET', path: TARGETS }),
  /** Newest first. */
  listDeliveries: (cursor?: string) => {
    const query = cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`;
    return request<WireDeliveries>({ method: 'GET', path: `${DELIVERIES}${query}` });
  },
  resend: (id: string) =>
    request<WireDelivery>({ method: 'POST', path: at(DELIVERIES, id, 'resend') }),
  test: (id: string) => request<WireDelivery>({ method: 'POST', path: at(TARGETS, id, 'test') }),
  enable: (id: string) => request<WireTarget>({ method: 'POST', path: at(TARGETS, id, 'enable') }),
});

const at = (path: string, id: string, act: string): string =>
  `${path}/${encodeURIComponent(id)}/${act}`;
