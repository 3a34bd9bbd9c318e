import type { PushApi, PushChoice } from '#lib/api/push-api';
import { currentSubscription, type PushWorker, pushSupport } from './push-browser.ts';
import { PUSH_CHANGED } from './receive-push.ts';

/**
 * Registers the subscription that this browser has: it does not end while its page is opened, and
 * one that the browser has exchanged reaches the server. Returns a function that ends it.
 */
export function keepPush(api: PushApi, worker: PushWorker, choice: PushChoice): () => void {
  const register = async () => {
    if (pushSupport() !== 'ok') return;
    const state = await api.state();
    if (!state.ok || !state.value.enabled) return;
    const own = await currentSubscription(worker, state.value.public_key);
    if (own) await api.subscribe({ ...own, ...choice });
  };
  const start = () =>
    void register().catch((error: unknown) => console.warn(`push: ${String(error)}`));
  const onMessage = ({ data }: MessageEvent) => void (data === PUSH_CHANGED && start());
  start();
  navigator.serviceWorker?.addEventListener('message', onMessage);
  return () => navigator.serviceWorker?.removeEventListener('message', onMessage);
}
