'use client';

import { useTranslations } from 'next-intl';
import { showControlCharacters } from '#lib/format/show-control-characters';
import { useApprovals, useHasRole } from '../providers/workbench-context.tsx';

/** Announces at once that a decision is needed, to those who may make it: the one thing that may interrupt. */
export function ApprovalVoice() {
  const t = useTranslations('card');
  const newest = useApprovals().at(-1);
  const mayDecide = useHasRole('operator');
  return (
    <p role="alert" className="sr-only">
      {newest && mayDecide && (
        <span key={newest.tool_call_id}>
          {t(`${newest.question ? 'question' : 'approval'}.announce`, {
            tool: showControlCharacters(newest.tool_name),
          })}
        </span>
      )}
    </p>
  );
}
