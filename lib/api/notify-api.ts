import type { WireDeliveries, WireDelivery, WireTarget, WireTargets } from '../protocol/notify.ts';
import type { ApiResult } from './api-result.ts';
import type { Api } from './http-client.ts';

/** Notifications that leave the server, apart from the rest: the workbench loads without it. */
export interface NotifyApi {
  listTargets(): Promise<ApiResult<WireTargets>>;
  /** Newest first. */
  listDeliveries(cursor?: string): Promise<ApiResult<WireDeliveries>>;
  resend(id: string): Promise<ApiResult<WireDelivery>>;
  test(targetId: string): Promise<ApiResult<WireDelivery>>;
  enable(targetId: string): Promise<ApiResult<WireTarget>>;
}

const TARGETS = '/v1/notify/targets';
const DELIVERIES = '/v1/notify/deliveries';

export const createNotifyApi = (request: Api['request']): NotifyApi => ({
  listTargets: () => request({ method: 'GET', path: TARGETS }),
  listDeliveries: (cursor) =>
    request({
      method: 'GET',
      path:
        cursor === undefined ? DELIVERIES : `${DELIVERIES}?cursor=${encodeURIComponent(cursor)}`,
    }),
  resend: (id) =>
    request({ method: 'POST', path: `${DELIVERIES}/${encodeURIComponent(id)}/resend` }),
  test: (id) => request({ method: 'POST', path: `${TARGETS}/${encodeURIComponent(id)}/test` }),
  enable: (id) => request({ method: 'POST', path: `${TARGETS}/${encodeURIComponent(id)}/enable` }),
});
