'use client';

import { useTranslations } from 'next-intl';
import type { HookState } from '#lib/policy/policy-wire';
import { MarkedText } from '../../ui/marked-text.tsx';
import { useFormatTime } from '../use-format-time.ts';
import { Listed } from './rule-list.tsx';

/** The hooks in the order in which they are asked, and how they did since the start. */
export function HookList({ hooks }: { hooks: readonly HookState[] }) {
  const t = useTranslations('settings.policy');
  return (
    <Listed title={t('hooks')} none={t('noHooks')}>
      {hooks.map((hook, at) => (
        // Two may have one name; only their order distinguishes them.
        // biome-ignore lint/suspicious/noArrayIndexKey: the list changes with a start alone.
        <li key={at} data-testid="hook" className="py-2 wrap-anywhere">
          <Hook hook={hook} />
        </li>
      ))}
    </Listed>
  );
}

function Hook({ hook }: { hook: HookState }) {
  const t = useTranslations('settings.policy.hook');
  const formatTime = useFormatTime('medium');
  const facts = [
    hook.before && t('before'),
    hook.after && t('after'),
    hook.tools === null ? t('allTools') : hook.tools.join(', '),
    t('timeout', { ms: hook.timeout_ms }),
    t(hook.security ? 'security' : 'passedBy'),
  ];
  return (
    <>
      <p>
        <span className="mono font-semibold">
          <MarkedText text={hook.name} />
        </span>{' '}
        <span className="mono text-[13px] text-muted">
          <MarkedText text={hook.module} />
        </span>
      </p>
      <p className="text-[13px]">
        <MarkedText text={facts.filter(Boolean).join(' · ')} />
      </p>
      {hook.last_failure === null ? (
        <p className="text-[13px] text-muted">{t('fine')}</p>
      ) : (
        <p className="text-[13px] text-error">
          {t('failed', { count: hook.failures, time: formatTime(hook.last_failure.at) })}{' '}
          <MarkedText text={hook.last_failure.message} />
        </p>
      )}
    </>
  );
}
