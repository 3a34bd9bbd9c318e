'use client';

import { useTranslations } from 'next-intl';
import { useMemo } from 'react';
import { createPushApi } from '#lib/api/push-api';
import { showControlCharacters } from '#lib/format/show-control-characters';
import { useFormatFailure } from '../../failure/format-failure.ts';
import { keepPushChoice } from '../../providers/push-choice.ts';
import { useIsViewer, useMe, useWorkbench } from '../../providers/workbench-context.tsx';
import { WORKBENCH_WORKER } from '../../push/push-browser.ts';
import { type Push, usePush } from '../../push/use-push.ts';
import { PushBrowsers } from './push-browsers.tsx';
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
