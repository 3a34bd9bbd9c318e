'use client';

import { useLocale, useTranslations } from 'next-intl';
import { useId, useState } from 'react';
import type { PushChoice } from '#lib/api/push-api';
import type { PushTestResult } from '#lib/protocol/push';
import { PUSH_KINDS, type PushKind } from '#lib/protocol/push-kinds';
import type { Push } from '../../push/use-push.ts';
import { Button } from '../../ui/button.tsx';

/** This browser: whether it can be sent notes, which, and the ways to change that. */
export function PushHere({ push }: { push: Push }) {
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
