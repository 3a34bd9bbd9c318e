import type {
  PushState,
  PushSubscriptionBody,
  PushTestResult,
  WirePushSubscription,
} from '#lib/protocol/push';
import type { Caller } from '../auth/room.ts';

/** Web Push as callers use it. What is refused is thrown as `HttpError`. */
export interface PushService {
  /** With the caller's own subscriptions. */
  state(caller: Caller): PushState;
  /** Resolves when it is on disk; the same browser again changes what it chose. */
  subscribe(
    body: PushSubscriptionBody,
    by: { readonly caller: Caller; readonly userAgent: string | undefined },
  ): Promise<WirePushSubscription>;
  unsubscribe(pushId: string, caller: Caller): Promise<void>;
  /** Sends a note to one of the caller's own browsers now. */
  test(pushId: string, caller: Caller, signal: AbortSignal): Promise<PushTestResult>;
}
