import type { Notice } from '#lib/protocol/notice';
import type { Caller } from '../../../auth/principal.ts';
import { createBrowser } from './fake-push-service.ts';
import { never, type setupPush } from './setup-push.ts';

type Push = Awaited<ReturnType<typeof setupPush>>;

export const agent = (caller: Caller) => ({
  caller,
  userAgent: 'Mozilla/5.0 (Android 16) Chrome/140.0',
});

/** A browser of a person or device that has subscribed. */
export async function subscribed(
  push: Pick<Push, 'service' | 'person'>,
  more: Parameters<ReturnType<typeof createBrowser>['body']>[0] & { caller?: Caller } = {},
) {
  const { caller = await push.person(), ...chosen } = more;
  const browser = createBrowser();
  const { push_id } = await push.service.subscribe(browser.body(chosen), agent(caller));
  return { browser, caller, pushId: push_id };
}

export const send = (
  push: Pick<Push, 'targetOf'> & { clock: Push['clock'] },
  pushId: string,
  notice: Notice,
) =>
  push.targetOf(pushId)?.send({
    ...{ deliveryId: 'dlv_1', notice, at: push.clock.now(), signal: never },
  });

export const lastRequest = ({ pushService }: Push) => {
  const last = pushService.requests.at(-1);
  if (!last) throw new Error('nothing was sent');
  return last;
};
