'use client';

import { useTranslations } from 'next-intl';
import { showErrorToast } from '#components/ui/toast';
import { errorMessage } from '#lib/util/error-message';

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
  const url = URL.createObjectURL(
    new Blob([text], { type: isText ? 'text/plain' : 'application/json' }),
  );
  const link = document.createElement('a');
  link.href = url;
  link.download = `${name || 'result'}.${isText ? 'txt' : 'json'}`;
  link.click();
  // The browser reads it after the click; a minute is ample, and then the memory is free again.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
