'use client';

import { useTranslations } from 'next-intl';
import type { WireAuditEntry } from '#lib/protocol/audit';
import { MarkedText } from '../ui/marked-text.tsx';
import { AuditTarget } from './audit-target.tsx';
import { useFormatTime } from './use-format-time.ts';

/** What one person did once, to what, and from where. */
export function AuditEntry({ entry }: { entry: WireAuditEntry }) {
  const t = useTranslations('settings.audit');
  const formatTime = useFormatTime('medium');
  const { act, target, actor, token_id, address, detail, at } = entry;
  const details = JSON.stringify(detail);
  return (
    <li data-testid="audit-entry" data-act={act} className="py-2 wrap-anywhere">
      <p>
        <span className="font-semibold">{t(`acts.${act}`)}</span>{' '}
        {target !== null && (
          <span className="mono">
            <AuditTarget target={target} />
          </span>
        )}
      </p>
      {details !== '{}' && (
        <p className="mono">
          <MarkedText text={details} />
        </p>
      )}
      <p className="text-[13px] text-muted">
        <time dateTime={new Date(at * 1_000).toISOString()}>{formatTime(at)}</time>
        {' · '}
        <span className="mono">
          <MarkedText text={actor} />
        </span>
        {' · '}
        {token_id ?? t('firstToken')}
        {' · '}
        <MarkedText text={address} />
      </p>
    </li>
  );
}
