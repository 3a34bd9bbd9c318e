import type { WireDeliveries, WireDelivery, WireTarget, WireTargets } from '../protocol/notify.ts';
import type { Api } from './http-client.ts';
import { pathOf, queryOf } from './send-request.ts';

/** Notifications that leave the server, apart from the rest: the workbench loads without it. */
export const createNotifyApi = (request: Api['request']) => ({
  listTargets: () => request<WireTargets>({ method: 'GET', path: '/v1/notify/targets' }),
  /** Newest first. */
  listDeliveries: (cursor?: string) =>
    request<WireDeliveries>({
      method: 'GET',
      path: `/v1/notify/deliveries${queryOf({ cursor })}`,
    }),
  resend: (id: string) =>
    request<WireDelivery>({ method: 'POST', path: pathOf`/v1/notify/deliveries/${id}/resend` }),
  test: (id: string) =>
    request<WireDelivery>({ method: 'POST', path: pathOf`/v1/notify/targets/${id}/test` }),
  enable: (id: string) =>
    request<WireTarget>({ method: 'POST', path: pathOf`/v1/notify/targets/${id}/enable` }),
});
