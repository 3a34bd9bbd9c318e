'use client';

import { useTranslations } from 'next-intl';
import type { PolicyStateAnswer } from '#lib/policy/policy-wire';
import { MarkedText } from '../../ui/marked-text.tsx';
import { useFormatTime } from '../use-format-time.ts';

/** Where the policy was read from and when, and why the file as it is now does not count. */
export function SourceNote({ state: { file, loaded_at, problem } }: { state: PolicyStateAnswer }) {
  const t = useTranslations('settings.policy');
  const formatTime = useFormatTime('medium');
  return (
    <div className="mb-4">
      <p className="text-[13px] text-muted wrap-anywhere" data-testid="policy-source">
        <MarkedText
          text={
            file === null
              ? t('noFile', { time: formatTime(loaded_at) })
              : t('source', { file, time: formatTime(loaded_at) })
          }
        />
      </p>
      {problem !== null && (
        <div role="alert" className="mt-2 rounded-lg border border-line bg-surface px-3 py-2">
          <p className="font-semibold text-error">{t('problem')}</p>
          <p className="mono wrap-anywhere">
            <MarkedText text={problem} />
          </p>
        </div>
      )}
    </div>
  );
}
