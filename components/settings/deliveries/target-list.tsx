'use client';

import { useTranslations } from 'next-intl';
import { useId } from 'react';
import type { WireTarget, WireTargets } from '#lib/protocol/notify';
import { Button } from '../../ui/button.tsx';
import { MarkedText } from '../../ui/marked-text.tsx';
import { CopyBlock } from '../copy-block.tsx';
import { MoreButton } from '../more-button.tsx';
import { useFormatTime } from '../use-format-time.ts';
import type { Pages } from '../use-pages.ts';

export interface TargetActions {
  test: (id: string) => Promise<void>;
  enable: (id: string) => Promise<void>;
  /** Whether `test <id>` or `enable <id>` is under way. */
  isBusy: (name: string) => boolean;
}

export interface TargetListProps extends TargetActions {
  targets: Pages<WireTarget>;
  limits: WireTargets['limits'] | null;
  mayChange: boolean;
}

const LIST = { role: 'list' };

/** Where notifications go; without any target how to have one. */
export function TargetList({ targets, limits, mayChange, ...actions }: TargetListProps) {
  const t = useTranslations('settings.deliveries');
  const titleId = useId();
  const isEmpty = targets.items?.length === 0;
  return (
    <section aria-labelledby={titleId} className="mt-4">
      <h2 id={titleId} className="text-base font-bold">
        {t('targets')}
      </h2>
      {limits && !isEmpty && (
        <p className="text-[13px] text-muted">
          {t('bounds', {
            open: limits.open_per_target,
            attempts: limits.attempts,
            days: limits.kept_days,
            kept: limits.kept,
          })}
        </p>
      )}
      {isEmpty ? (
        <NoTargets />
      ) : (
        <>
          <ul className="mt-1 divide-y divide-line" {...LIST}>
            {targets.items?.map((target) => (
              <li key={target.id} data-testid="notify-target" className="py-2 wrap-anywhere">
                <Target target={target} mayChange={mayChange} {...actions} />
              </li>
            ))}
          </ul>
          {(targets.failure || targets.isLoading) && <MoreButton pages={targets} />}
        </>
      )}
    </section>
  );
}

interface TargetProps extends TargetActions {
  target: WireTarget;
  mayChange: boolean;
}

function Target({ target, mayChange, test, enable, isBusy }: TargetProps) {
  const t = useTranslations('settings.deliveries');
  const common = useTranslations('common');
  const { id, host, events, open, failures_in_row: failures } = target;
  const facts = [
    host,
    events?.map((type) => t(`events.${type}`)).join(common('separator')),
    open > 0 && t('open', { count: open }),
    failures > 0 && t('failures', { count: failures }),
  ];
  return (
    <>
      <p className="flex flex-wrap items-baseline gap-x-2">
        <span className="mono font-semibold">
          <MarkedText text={id} />
        </span>
        <TargetState target={target} />
      </p>
      <p className="text-[13px] text-muted">
        <MarkedText text={facts.filter(Boolean).join(' · ')} />
      </p>
      {mayChange && (
        <p className="mt-1 flex flex-wrap gap-2">
          <Button
            size="sm"
            aria-label={`${t('test.button')} ${id}`}
            aria-disabled={isBusy(`test ${id}`)}
            onClick={() => void test(id)}
          >
            {t('test.button')}
          </Button>
          {target.state === 'off' && (
            <Button
              size="sm"
              aria-label={`${t('enable.button')} ${id}`}
              aria-disabled={isBusy(`enable ${id}`)}
              onClick={() => void enable(id)}
            >
              {t('enable.button')}
            </Button>
          )}
        </p>
      )}
    </>
  );
}

function TargetState({ target }: { target: WireTarget }) {
  const t = useTranslations('settings.deliveries.state');
  const formatTime = useFormatTime('medium');
  if (target.off_since !== null) {
    return <span className="text-error">{t('off', { time: formatTime(target.off_since) })}</span>;
  }
  if (target.slowed_until !== null) {
    return (
      <span className="text-wait">{t('slowed', { time: formatTime(target.slowed_until) })}</span>
    );
  }
  return <span className="text-muted">{t('on')}</span>;
}

const EXAMPLE = `{
  "notify": {
    "ops": {
      "kind": "webhook",
      "url": "https://receiver.example/hooks/callboard",
      "secret": "\${env:HOOK_SECRET}"
    },
    "team": { "kind": "slack", "url": "\${env:SLACK_WEBHOOK_URL}" },
    "phone": { "kind": "ntfy", "url": "https://ntfy.example", "topic": "callboard" }
  }
}`;

function NoTargets() {
  const t = useTranslations('settings.deliveries');
  return (
    <>
      <p className="mt-1 mb-2">{t('noTargets')}</p>
      <CopyBlock label="callboard.config.json" text={EXAMPLE} />
    </>
  );
}
