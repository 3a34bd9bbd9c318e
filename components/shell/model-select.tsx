'use client';

import { useTranslations } from 'next-intl';
import type { ModelListing } from '#lib/protocol/run';
import { useChosenModel, useModels, useWorkbench } from '../providers/workbench-context.tsx';
import { Select } from '../ui/select.tsx';

/** Which model new messages go to. */
export function ModelSelect({ className = '' }: { className?: string }) {
  const t = useTranslations('shell.model');
  const models = useModels();
  const chosen = useChosenModel();
  const { choose } = useWorkbench().models.getState();
  const options = models.map((one) => ({
    value: one.model,
    label: labelOf(one, t),
  }));
  return (
    <Select
      label={t('label')}
      className={className}
      value={chosen ?? ''}
      disabled={options.length === 0}
      options={options.length > 0 ? options : [{ value: '', label: t('none') }]}
      onValueChange={choose}
    />
  );
}

function labelOf(
  { rehearsal, available, label }: ModelListing,
  t: ReturnType<typeof useTranslations<'shell.model'>>,
): string {
  if (rehearsal) return t('rehearsal');
  return available === false ? t('silent', { server: label }) : label;
}
