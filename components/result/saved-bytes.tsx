'use client';

import { useTranslations } from 'next-intl';
import { type ReactNode, useState } from 'react';
import { readBlob } from '../providers/page-session.ts';
import { saveFile } from './save-file.ts';

export interface SavedBytesProps {
  /** One of our addresses: a link to it would bring the cookie alone, which opens nothing. */
  path: string;
  /** Of the file. */
  name: string;
  className?: string;
  children: ReactNode;
}

/** Saves what is under an address of ours as a file. */
export function SavedBytes({ path, name, className, children }: SavedBytesProps) {
  const t = useTranslations('card.result');
  const [failed, setFailed] = useState(false);
  const save = () => {
    setFailed(false);
    readBlob(path).then(
      (bytes) => saveFile(bytes, name),
      () => setFailed(true),
    );
  };
  return (
    <>
      <button type="button" onClick={save} className={className}>
        {children}
      </button>
      {failed && (
        <span role="alert" className="ml-2 text-error">
          {t('notRead')}
        </span>
      )}
    </>
  );
}
