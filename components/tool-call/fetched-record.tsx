'use client';

import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import { showControlCharacters } from '#lib/format/show-control-characters';
import type { WireCallRecord } from '#lib/protocol/call-record';
import { useFailureWords } from '../failure/failure-words.ts';
import { useCallRecord } from './use-call-record.ts';

export interface FetchedRecordProps {
  callId: string;
  children: (call: WireCallRecord) => ReactNode;
}

/** What is drawn of a call's record, once it has come; until then that it is fetched, or why it could not be. */
export function FetchedRecord({ callId, children }: FetchedRecordProps) {
  const t = useTranslations('card');
  const failureWords = useFailureWords();
  const record = useCallRecord(callId);
  if (record === null) return <p role="status">{t('model.loading')}</p>;
  if (record.ok) return children(record.value);
  return (
    <p role="alert" className="text-error wrap-anywhere">
      {showControlCharacters(failureWords(record))}
    </p>
  );
}
