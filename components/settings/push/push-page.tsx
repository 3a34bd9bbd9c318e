'use client';

import { useTranslations } from 'next-intl';
import { useId, useMemo } from 'react';
import { createPushApi } from '#lib/api/push-api';
import { showControlCharacters } from '#lib/format/show-control-characters';
import type { WirePushSubscription } from '#lib/protocol/push';
import { useFormatFailure } from '../../failure/format-failure.ts';
import { keepPushChoice } from '../../providers/push-choice.ts';
import { useIsViewer, useMe, useWorkbench } from '../../providers/workbench-context.tsx';
import { WORKBENCH_WORKER } from '../../push/push-browser.ts';
import { type Push, usePush } from '../../push/use-push.ts';
import { Button } from '../../ui/button.tsx';
import { MarkedText } from '../../ui/marked-text.tsx';
import { useFormatTime } from '../use-format-time.ts';
import { PushHere } from './push-here.tsx';

/** Notes to this browser while no page of the workbench is open, and to the person's other ones. */
export function PushPage() {
  const t = useTranslations('settings.push');
  const isViewer = useIsViewer();
  const isKnown = useMe() !== null;
  return (
    <>
      <h1 className="mb-1 text-lg font-bold">{t('title')}</h1>
      <p className="mb-4 text-muted">{t('text')}</p>
      {!isKnown && <p className="text-muted">{t('loading')}</p>}
      {isKnown && isViewer && (
        <p className="rounded-lg border border-line bg-surface px-3 py-2">{t('viewer')}</p>
      )}
      {isKnown && !isViewer && <OwnPush />}
    </>
  );
}

function OwnPush() {
  const t = useTranslations('settings.push');
  const workbench = useWorkbench();
  const parts = useMemo(
    () => ({
      api: createPushApi(workbench.api.request),
      worker: WORKBENCH_WORKER,
      keep: (choice: Parameters<typeof keepPushChoice>[1]) => keepPushChoice(workbench, choice),
    }),
    [workbench],
  );
  const push = usePush(parts);
  const { state } = push;
  return (
    <div className="space-y-4">
      <PushFailure push={push} />
      {state === null && push.failure === null && <p className="text-muted">{t('loading')}</p>}
      {state && !state.enabled && (
        <p className="rounded-lg border border-line bg-surface px-3 py-2">{t('disabled')}</p>
      )}
      {state?.enabled && <PushHere push={push} />}
      {state && <PushBrowsers push={push} />}
      <p className="text-muted">{t('privacy')}</p>
    </div>
  );
}

function PushFailure({ push: { failure } }: { push: Push }) {
  const formatFailure = useFormatFailure();
  if (failure === null) return null;
  return (
    <p role="alert" className="text-error wrap-anywhere">
      {showControlCharacters(formatFailure(failure))}
    </p>
  );
}

/** All browsers of the person that are sent notes, with what became of the last one. */
function PushBrowsers({ push }: { push: Push }) {
  const t = useTranslations('settings.push');
  const titleId = useId();
  const all = push.state?.subscriptions ?? [];
  return (
    <section aria-labelledby={titleId}>
      <h2 id={titleId} className="mb-1 font-bold">
        {t('all')}
      </h2>
      {all.length === 0 && <p className="text-muted">{t('none')}</p>}
      <ul className="space-y-2">
        {all.map((one) => (
          <li key={one.push_id} className="rounded-lg border border-line px-3 py-2">
            <Browser one={one} push={push} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Browser({ one, push }: { one: WirePushSubscription; push: Push }) {
  const t = useTranslations('settings.push');
  const formatTime = useFormatTime();
  const { browser, push_id, expires_at } = one;
  const isOwn = push.own?.push_id === push_id;
  const remove = () => (isOwn ? push.turnOff() : push.remove(push_id));
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <h3 className="font-medium wrap-anywhere">
          <MarkedText text={browser} />
        </h3>
        {isOwn && <span className="chip text-accent">{t('thisOne')}</span>}
        <span className="text-xs text-muted">
          {one.kinds.map((kind) => t(`kinds.${kind}`)).join(' · ')}
        </span>
      </div>
      <LastNote one={one} />
      <p className="text-muted">{t('until', { time: formatTime(expires_at) })}</p>
      <Button
        size="sm"
        className="mt-2"
        aria-label={t('removeNamed', { browser })}
        aria-disabled={push.isBusy}
        onClick={() => void (push.isBusy || remove())}
      >
        {t('remove')}
      </Button>
    </>
  );
}

function LastNote({ one: { last, host } }: { one: WirePushSubscription }) {
  const t = useTranslations('settings.push');
  const formatTime = useFormatTime();
  if (last === null) return <p className="text-muted">{t('last.none')}</p>;
  const time = formatTime(last.at);
  if (last.outcome === 'delivered') return <p>{t('last.delivered', { host, time })}</p>;
  const why = t(`failed.${last.reason ?? 'refused'}`, { host, status: last.status ?? '' });
  return (
    <p className="text-error wrap-anywhere">
      {t('last.failed', { time })} {why}
    </p>
  );
}
