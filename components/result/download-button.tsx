'use client';

import { useTranslations } from 'next-intl';
import { errorMessage } from '#lib/util/error-message';
import { showErrorToast } from '../ui/toast.ts';
import { saveValue } from './save-value.ts';

export interface DownloadButtonProps {
  value: unknown;
  name: string;
  label: string;
}

/** Saves a value as a file: text as it is, anything else as JSON. */
export function DownloadButton({ value, name, label }: DownloadButtonProps) {
  const t = useTranslations('card.result');
  const saveOrExplain = () => {
    try {
      saveValue(value, name);
    } catch (error) {
      // A value can be nested too deep to be written.
      showErrorToast(t('saveFailed'), errorMessage(error));
    }
  };
  return (
    <button type="button" className="link-button" onClick={saveOrExplain}>
      {label}
    </button>
  );
}
