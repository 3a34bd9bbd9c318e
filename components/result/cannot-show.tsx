'use client';

import { useTranslations } from 'next-intl';
import { DownloadButton } from './download-button.tsx';

export interface CannotShowProps {
  /** Read only when the file is asked for. */
  value: unknown;
  /** Of the file. */
  name: string;
}

/** In place of data that could not be drawn: that it is so, and the data as a file. */
export function CannotShow({ value, name }: CannotShowProps) {
  const t = useTranslations('card');
  return (
    <div data-testid="cannot-show" className="mt-1 flex flex-wrap items-baseline gap-x-3">
      <p className="text-error">{t('result.cannotShow')}</p>
      <span className="text-xs">
        <DownloadButton value={value} name={name} label={t('action.download')} />
      </span>
    </div>
  );
}
