'use client';

import { useTranslations } from 'next-intl';
import type { ModelListing } from '#lib/protocol/run';
import {
  useChosenModel,
  useIsViewer,
  useModels,
  useWorkbench,
} from '../providers/workbench-context.tsx';
import { Select } from '../ui/select.tsx';

/** Which model new messages go to; a viewer sends none. */
export function ModelSelect({ className = '' }: { className?: string }) {
  const t = useTranslations('shell.model');
  const models = useModels();
  const chosen = useChosenModel();
  const isViewer = useIsViewer();
  const { choose } = useWorkbench().models.getState();
  const labels = models.map((one) => labelOf(one, t));
  const options = models.map(({ model, provider }, at) => {
    const label = labels[at] ?? model;
    const isAmbiguous = labels.some((other, place) => other === label && place !== at);
    return { value: model, label: isAmbiguous ? t('of', { label, provider }) : label };
  });
  if (isViewer) return null;
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
