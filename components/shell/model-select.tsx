'use client';

import { SlidersHorizontal } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { useStore } from 'zustand';
import type { ModelListing } from '#lib/protocol/run';
import {
  useChosenModel,
  useIsViewer,
  useModels,
  useWorkbench,
} from '../providers/workbench-context.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { late } from '../ui/late.tsx';
import { Select } from '../ui/select.tsx';
import type { ModelSettingsProps } from './model-settings.tsx';

const ModelSettings = late<ModelSettingsProps>(
  () => import('./model-settings.tsx').then((module) => module.ModelSettings),
  { frame: (words) => <div className="popup fixed right-4 top-16 z-50 p-4">{words}</div> },
);

/** Which model new messages go to, and how it is asked; a viewer sends none. */
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
    <div className={`items-center gap-1 ${className}`}>
      <Select
        label={t('label')}
        className="flex flex-1"
        value={chosen ?? ''}
        disabled={options.length === 0}
        options={options.length > 0 ? options : [{ value: '', label: t('none') }]}
        onValueChange={choose}
      />
      <SettingsButton />
    </div>
  );
}

/** It says in its name whether the person has set something. */
function SettingsButton() {
  const t = useTranslations('shell.model.settings');
  const settings = useStore(useWorkbench().models, (state) => state.settings);
  const [isOpen, setOpen] = useState(false);
  const isSet = Object.values(settings ?? {}).some((value) => value !== null);
  return (
    <>
      <IconButton
        label={t(isSet ? 'changed' : 'title')}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        <SlidersHorizontal aria-hidden className={isSet ? 'size-4 text-accent' : 'size-4'} />
      </IconButton>
      {isOpen && <ModelSettings onClose={() => setOpen(false)} />}
    </>
  );
}

function labelOf(
  { rehearsal, available, label }: ModelListing,
  t: ReturnType<typeof useTranslations<'shell.model'>>,
): string {
  if (rehearsal) return t('rehearsal');
  return available === false ? t('silent', { server: label }) : label;
}
