'use client';

import { useTranslations } from 'next-intl';
import { showErrorToast } from '#components/ui/toast';
import { errorMessage } from '#lib/util/error-message';
import { saveFile } from './save-file.ts';

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
      save(value, name);
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

function save(value: unknown, name: string): void {
  const isText = typeof value === 'string';
  const text = isText ? value : JSON.stringify(value, null, 2);
  const bytes = new Blob([text], { type: isText ? 'text/plain' : 'application/json' });
  saveFile(bytes, `${name || 'result'}.${isText ? 'txt' : 'json'}`);
}
