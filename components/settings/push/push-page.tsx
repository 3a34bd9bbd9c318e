'use client';

import { useLocale, useTranslations } from 'next-intl';
import { useId, useMemo, useState } from 'react';
import { createPushApi, type PushChoice } from '#lib/api/push-api';
import { showControlCharacters } from '#lib/format/show-control-characters';
import type { PushTestResult, WirePushSubscription } from '#lib/protocol/push';
import { PUSH_KINDS, type PushKind } from '#lib/protocol/push-kinds';
import { useFormatFailure } from '../../failure/format-failure.ts';
import { keepPushChoice } from '../../providers/push-choice.ts';
import { useIsViewer, useMe, useWorkbench } from '../../providers/workbench-context.tsx';
import { WORKBENCH_WORKER } from '../../push/push-browser.ts';
import { type Push, usePush } from '../../push/use-push.ts';
import { Button } from '../../ui/button.tsx';
import { MarkedText } from '../../ui/marked-text.tsx';
import { useFormatTime } from '../use-format-time.ts';

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

/** This browser: whether it can be sent notes, which, and the ways to change that. */
function PushHere({ push }: { push: Push }) {
  const t = useTranslations('settings.push');
  const titleId = useId();
  const { support, own } = push;
  const isBlocked = support !== null && support !== 'ok';
  return (
    <section aria-labelledby={titleId} className="rounded-lg border border-line bg-surface p-3">
      <h2 id={titleId} className="font-bold">
        {t('here')}
      </h2>
      <p className={own && !isBlocked ? 'text-success' : ''}>
        {own && !isBlocked ? t('on') : t('off')}
      </p>
      {isBlocked && (
        <p role="note" data-support={support} className="mt-1 text-wait">
          {t(`support.${support}`)}
        </p>
      )}
      {support === 'ok' && <PushForm push={push} key={own?.push_id ?? ''} />}
      <div role="status" className="mt-2 empty:hidden">
        {push.isBusy && <p className="text-muted">{t('busy')}</p>}
        {push.problem && <p className="text-error">{t(`problem.${push.problem}`)}</p>}
        {push.tested && <TestOutcome result={push.tested} host={own?.host ?? ''} />}
      </div>
    </section>
  );
}

function PushForm({ push }: { push: Push }) {
  const t = useTranslations('settings.push');
  const locale = useLocale().startsWith('zh') ? 'zh' : 'en';
  const { own, isBusy } = push;
  const [kinds, setKinds] = useState<readonly PushKind[]>(own?.kinds ?? PUSH_KINDS);
  const [details, setDetails] = useState(own?.details ?? false);
  const hintId = useId();
  const choose = (choice: Pick<PushChoice, 'kinds' | 'details'>) => {
    setKinds(choice.kinds);
    setDetails(choice.details);
    // One that is on changes at once; with nothing left to send it stays as it was.
    if (own && choice.kinds.length > 0) void push.turnOn({ locale, ...choice });
  };
  const toggled = (kind: PushKind) =>
    PUSH_KINDS.filter((one) => kinds.includes(one) !== (one === kind));
  return (
    <div className="mt-2">
      <fieldset className="min-w-0 border-0">
        <legend className="font-medium">{t('what')}</legend>
        {PUSH_KINDS.map((kind) => (
          <Check
            key={kind}
            label={t(`kinds.${kind}`)}
            isOn={kinds.includes(kind)}
            onToggle={() => choose({ kinds: toggled(kind), details })}
          />
        ))}
        <Check
          label={t('details')}
          hintId={hintId}
          isOn={details}
          onToggle={() => choose({ kinds, details: !details })}
        />
        <p id={hintId} className="text-muted">
          {t('detailsHint')}
        </p>
      </fieldset>
      <div className="mt-2 flex flex-wrap gap-2">
        {own ? (
          <>
            <Button aria-disabled={isBusy} onClick={() => void (isBusy || push.test())}>
              {t('test')}
            </Button>
            <Button aria-disabled={isBusy} onClick={() => void (isBusy || push.turnOff())}>
              {t('turnOff')}
            </Button>
          </>
        ) : (
          <Button
            variant="primary"
            aria-disabled={isBusy}
            disabled={kinds.length === 0}
            onClick={() => void (isBusy || push.turnOn({ locale, kinds, details }))}
          >
            {t('turnOn')}
          </Button>
        )}
      </div>
    </div>
  );
}

interface CheckProps {
  label: string;
  isOn: boolean;
  onToggle: () => void;
  hintId?: string;
}

function Check({ label, isOn, onToggle, hintId }: CheckProps) {
  return (
    <label className="flex min-h-7 items-start gap-2 py-1 pointer-coarse:min-h-11">
      <input
        type="checkbox"
        checked={isOn}
        aria-describedby={hintId}
        onChange={onToggle}
        className="mt-0.5 size-4 shrink-0 accent-accent"
      />
      {label}
    </label>
  );
}

function TestOutcome({ result, host }: { result: PushTestResult; host: string }) {
  const t = useTranslations('settings.push');
  const { outcome, reason, status } = result;
  if (outcome === 'failed') {
    const words = t(`failed.${reason ?? 'refused'}`, { host, status: status ?? '' });
    return <p className="text-error wrap-anywhere">{words}</p>;
  }
  return <p className={outcome === 'delivered' ? '' : 'text-wait'}>{t(`outcome.${outcome}`)}</p>;
}
