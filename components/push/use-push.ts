import { useCallback, useEffect, useState } from 'react';
import type { ApiFailure } from '#lib/api/api-result';
import type { PushApi, PushChoice } from '#lib/api/push-api';
import type { PushState, PushTestResult, WirePushSubscription } from '#lib/protocol/push';
import {
  currentSubscription,
  hashOfEndpoint,
  type PushSupport,
  type PushWorker,
  pushSupport,
  type SubscribeProblem,
  subscribeBrowser,
  unsubscribeBrowser,
} from './push-browser.ts';
import { PUSH_CHANGED } from './receive-push.ts';

export interface PushParts {
  readonly api: PushApi;
  readonly worker: PushWorker;
  /** What was chosen here, for when the page is opened again; null: nothing is sent here. */
  keep(choice: PushChoice | null): void;
}

export interface Push {
  /** Null until the page has run in the browser. */
  readonly support: PushSupport | null;
  readonly state: PushState | null;
  /** That of this browser. */
  readonly own: WirePushSubscription | undefined;
  readonly isBusy: boolean;
  readonly failure: ApiFailure | null;
  readonly problem: SubscribeProblem | null;
  readonly tested: PushTestResult | null;
  /** Also changes what is sent. */
  turnOn(choice: PushChoice): Promise<void>;
  turnOff(): Promise<void>;
  /** Of another browser. */
  remove(pushId: string): Promise<void>;
  test(): Promise<void>;
  reload(): Promise<void>;
}

interface Shown {
  readonly support: PushSupport | null;
  readonly state: PushState | null;
  readonly ownHash: string | null;
  readonly isBusy: boolean;
  readonly failure: ApiFailure | null;
  readonly problem: SubscribeProblem | null;
  readonly tested: PushTestResult | null;
}

const NOTHING: Shown = {
  support: null,
  state: null,
  ownHash: null,
  isBusy: false,
  failure: null,
  problem: null,
  tested: null,
};

/** Notes to this browser: whether it can be sent any, whether it is, and the ways to change that. */
export function usePush({ api, worker, keep }: PushParts): Push {
  const [shown, setShown] = useState(NOTHING);
  const change = useCallback(
    (part: Partial<Shown>) => setShown((was) => ({ ...was, ...part })),
    [],
  );
  const reload = useCallback(async () => {
    const support = pushSupport();
    const answer = await api.state();
    if (!answer.ok) return change({ support, failure: answer });
    const can = support !== 'insecure' && support !== 'unsupported' && support !== 'home_screen';
    const own = can ? await currentSubscription(worker, answer.value.public_key) : null;
    change({ support, state: answer.value, failure: null, ownHash: own && hashOfEndpoint(own) });
  }, [api, worker, change]);
  useEffect(() => {
    void reload();
    const onMessage = ({ data }: MessageEvent) => void (data === PUSH_CHANGED && reload());
    // A permission may be changed in the settings of the browser meanwhile.
    const onSeen = () => void (document.visibilityState === 'visible' && reload());
    navigator.serviceWorker?.addEventListener('message', onMessage);
    document.addEventListener('visibilitychange', onSeen);
    return () => {
      navigator.serviceWorker?.removeEventListener('message', onMessage);
      document.removeEventListener('visibilitychange', onSeen);
    };
  }, [reload]);
  const own = shown.state?.subscriptions.find((one) => one.endpoint_sha256 === shown.ownHash);
  const act = async (work: () => Promise<Partial<Shown>>) => {
    change({ isBusy: true, problem: null, failure: null, tested: null });
    try {
      change(await work());
      await reload();
    } catch (error) {
      // Of the browser: what it could not do is in its console.
      console.warn(`push: ${String(error)}`);
      change({ problem: 'service' });
    }
    change({ isBusy: false });
  };
  return {
    ...shown,
    own,
    reload,
    turnOn: (choice) =>
      act(async () => {
        const made = await subscribeBrowser(worker, shown.state?.public_key ?? '');
        if (typeof made === 'string') return { problem: made };
        const answer = await api.subscribe({ ...made, ...choice });
        if (!answer.ok) return { failure: answer };
        keep(choice);
        return {};
      }),
    turnOff: () =>
      act(async () => {
        keep(null);
        await unsubscribeBrowser(worker);
        const answer = own && (await api.unsubscribe(own.push_id));
        return answer && !answer.ok ? { failure: answer } : {};
      }),
    remove: (pushId) =>
      act(async () => {
        const answer = await api.unsubscribe(pushId);
        return answer.ok ? {} : { failure: answer };
      }),
    test: () =>
      act(async () => {
        const answer = own && (await api.test(own.push_id));
        if (answer && !answer.ok) return { failure: answer };
        return { tested: answer?.value ?? null };
      }),
  };
}
