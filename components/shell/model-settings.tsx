'use client';

import { useTranslations } from 'next-intl';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useStore } from 'zustand';
import { REASONING_EFFORTS } from '#lib/protocol/reasoning-efforts';
import { useWorkbench } from '../providers/workbench-context.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Select } from '../ui/select.tsx';

export interface ModelSettingsProps {
  onClose: () => void;
}

/** How models are asked from the next message on; what is left empty is as the configuration says. */
export function ModelSettings({ onClose }: ModelSettingsProps) {
  const t = useTranslations('shell.model.settings');
  const common = useTranslations('common');
  const { settings, ask } = useStore(useWorkbench().models);
  const [instructions, setInstructions] = useState(settings?.instructions ?? '');
  const [temperature, setTemperature] = useState(String(settings?.temperature ?? ''));
  const [effort, setEffort] = useState<string>(settings?.reasoning_effort ?? '');
  const save = (event: FormEvent) => {
    event.preventDefault();
    // React passes it on to a form around the button that opened this dialog.
    event.stopPropagation();
    ask({
      instructions: instructions.trim() || null,
      temperature: temperature === '' ? null : Number(temperature),
      reasoning_effort: REASONING_EFFORTS.find((one) => one === effort) ?? null,
    });
    onClose();
  };
  const asConfigured = { value: '', label: t('asConfigured') };
  const efforts = REASONING_EFFORTS.map((value) => ({ value, label: t(`efforts.${value}`) }));
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={t('title')}
      description={t('about')}
      closeLabel={common('close')}
    >
      <form onSubmit={save} className="flex flex-col gap-3">
        <Field label={t('instructions')}>
          <textarea
            rows={4}
            maxLength={32_768}
            value={instructions}
            placeholder={t('instructionsHint')}
            onChange={(event) => setInstructions(event.target.value)}
            className="field w-full py-2"
          />
        </Field>
        <Field label={t('temperature')}>
          <input
            type="number"
            inputMode="decimal"
            min={0}
            max={2}
            step="any"
            value={temperature}
            placeholder={t('asConfigured')}
            onChange={(event) => setTemperature(event.target.value)}
            className="field w-full"
          />
        </Field>
        <Field label={t('effort')}>
          <Select
            label={t('effort')}
            className="w-full"
            value={effort}
            options={[asConfigured, ...efforts]}
            onValueChange={setEffort}
          />
        </Field>
        <Button type="submit" variant="primary" className="self-end">
          {common('save')}
        </Button>
      </form>
    </Dialog>
  );
}

function Field({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is among its children.
    <label className="flex flex-col gap-1">
      <span>{label}</span>
      {children}
    </label>
  );
}
