import type { PushState, PushTestResult, WirePushSubscription } from '../protocol/push.ts';
import type { PushKind } from '../protocol/push-kinds.ts';
import type { Api } from './http-client.ts';

/** A person chose these for one browser. */
export interface PushChoice {
  readonly locale: 'en' | 'zh';
  readonly kinds: readonly PushKind[];
  readonly details: boolean;
}

interface PushSubscribeInput extends PushChoice {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
}

/** Notes to browsers; apart from the rest: the workbench loads without it. `path`: that of people, or that of devices. */
export const createPushApi = (
  request: Api['request'],
  path: '/v1/push' | '/internal/push' = '/v1/push',
) => ({
  state: () => request<PushState>({ method: 'GET', path }),
  subscribe: (body: PushSubscribeInput) =>
    request<WirePushSubscription>({ method: 'POST', path: `${path}/subscriptions`, body }),
  unsubscribe: (id: string) =>
    request({ method: 'DELETE', path: `${path}/subscriptions/${encodeURIComponent(id)}` }),
  test: (push_id: string) =>
    request<PushTestResult>({ method: 'POST', path: `${path}/test`, body: { push_id } }),
});

export type PushApi = ReturnType<typeof createPushApi>;
