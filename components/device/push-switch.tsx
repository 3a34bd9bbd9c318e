import { useEffect, useMemo } from 'react';
import { createPushApi, type PushApi, type PushChoice } from '#lib/api/push-api';
import { sendRequest } from '#lib/api/send-request';
import { flag } from '#lib/client/guards/guard';
import { PUSH_KINDS } from '#lib/protocol/push-kinds';
import { keepPush } from '../push/keep-push.ts';
import { DEVICE_WORKER } from '../push/push-browser.ts';
import { type Push, usePush } from '../push/use-push.ts';
import { useDevicePage } from './device-context.tsx';
import type { PairedDevice } from './device-memory.ts';
import { fill } from './texts.ts';

const MEMORY = ':push';

/** Whether this device is sent notes about its own calls while its page is closed. */
export function PushSwitch({ kept }: { kept: PairedDevice }) {
  const { texts, memory, locale } = useDevicePage();
  const choice = useMemo<PushChoice>(
    () => ({ locale, kinds: PUSH_KINDS, details: false }),
    [locale],
  );
  const parts = useMemo(
    () => ({
      api: deviceApi(kept.token),
      worker: DEVICE_WORKER,
      keep: (chosen: PushChoice | null) => memory.write(MEMORY, chosen !== null),
    }),
    [kept.token, memory],
  );
  const push = usePush(parts);
  useEffect(() => {
    if (memory.read(MEMORY, flag) !== true) return undefined;
    return keepPush(parts.api, DEVICE_WORKER, choice);
  }, [parts, choice, memory]);
  const { support, state, own, isBusy } = push;
  const canBe = support === 'ok' && state?.enabled === true;
  const isOn = canBe && own !== undefined;
  const change = () => void (isBusy || (isOn ? push.turnOff() : push.turnOn(choice)));
  return (
    <section className="flex flex-col gap-1">
      <label className="flex min-h-12 items-center justify-between gap-4 font-semibold text-lg">
        {texts.push.label}
        <input
          type="checkbox"
          className="size-7 shrink-0 accent-(--accent)"
          checked={isOn}
          disabled={!canBe}
          aria-busy={isBusy}
          onChange={change}
        />
      </label>
      <Explanation push={push} isOn={isOn} />
      {isOn && (
        <button
          type="button"
          className="btn"
          aria-disabled={isBusy}
          onClick={() => void (isBusy || push.test())}
        >
          {texts.push.test}
        </button>
      )}
    </section>
  );
}

/** What is wrong and what would be right, or what it does. */
function Explanation({ push, isOn }: { push: Push; isOn: boolean }) {
  const { texts } = useDevicePage();
  const { words, isProblem } = explain(push, isOn, texts.push);
  return (
    <p role="status" className={isProblem ? 'text-wait' : 'text-muted'}>
      {words}
    </p>
  );
}

type PushTexts = ReturnType<typeof useDevicePage>['texts']['push'];

function explain(push: Push, isOn: boolean, texts: PushTexts) {
  const { support, state, problem, failure, tested, own, isBusy } = push;
  const bad = (words: string) => ({ words, isProblem: true });
  if (isBusy) return { words: texts.busy, isProblem: false };
  if (support !== null && support !== 'ok') return bad(texts.support[support]);
  if (problem) return bad(texts.problem[problem]);
  if (failure) return bad(fill(texts.failure, { message: failure.message }));
  if (state?.enabled === false) return bad(texts.disabled);
  const host = own?.host ?? '';
  if (tested?.outcome === 'failed') return bad(fill(texts.failed, { host }));
  if (tested?.outcome === 'ended') return bad(texts.ended);
  if (tested) return { words: texts.tested, isProblem: false };
  if (isOn && own?.last?.outcome === 'failed') return bad(fill(texts.failed, { host }));
  return { words: isOn ? texts.on : texts.off, isProblem: false };
}

/** By the token of the device, under the path that is open to devices. */
function deviceApi(token: string): PushApi {
  const authorization = `Bearer ${token}`;
  const deps = {
    fetch: (url: string, init: RequestInit = {}) =>
      fetch(url, { ...init, headers: { ...init.headers, authorization } }),
    baseUrl: '',
  };
  return createPushApi((request) => sendRequest(deps, request), '/internal/push');
}
