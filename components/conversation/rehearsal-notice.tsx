'use client';

import { Info } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useChosenModel, useModels } from '../providers/workbench-context.tsx';

/** Says plainly that what answers is no language model, and how to get one. */
export function RehearsalNotice() {
  const t = useTranslations('conversation.rehearsal');
  const chosen = useChosenModel();
  const models = useModels();
  if (!models.find((one) => one.model === chosen)?.rehearsal) return null;
  const isOnlyOne = models.every((one) => one.rehearsal);
  return (
    <details className="rounded-lg border border-line bg-surface px-3 py-1.5 text-[13px]">
      <summary className="flex min-h-6 items-center gap-2 font-medium">
        <Info aria-hidden className="size-4 shrink-0 text-wait" />
        {t('title')}
      </summary>
      <p className="mt-1 text-muted">
        {t('text')} {t(isOnlyOne ? 'setOne' : 'chooseOne')}
      </p>
    </details>
  );
}
