'use client';

import { useTranslations } from 'next-intl';
import { showControlCharacters } from '#lib/format/show-control-characters';
import { useApprovals } from '../providers/workbench-context.tsx';

/** Announces at once that a decision is needed: the one thing that may interrupt. */
export function ApprovalVoice() {
  const t = useTranslations('card.approval');
  const newest = useApprovals().at(-1);
  return (
    <p role="alert" className="sr-only">
      {newest && (
        <span key={newest.tool_call_id}>
          {t('announce', { tool: showControlCharacters(newest.tool_name) })}
        </span>
      )}
    </p>
  );
}
