'use client';

import { useLocale, useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import type { Received } from '#lib/api/send-request';
import { formatBytes } from '#lib/format/amounts';
import type { WireCallRecord } from '#lib/protocol/call-record';
import { Fetched } from '../failure/fetched.tsx';
import { useCallRecord } from './use-call-record.ts';

export interface FetchedRecordProps {
  callId: string;
  children: (call: WireCallRecord) => ReactNode;
}

/** What is drawn of a call's record, once it has come; until then that it is fetched, or why it could not be. */
export function FetchedRecord({ callId, children }: FetchedRecordProps) {
  const { record, received } = useCallRecord(callId);
  return (
    <Fetched answer={record} loading={<Fetching received={received} />}>
      {children}
    </Fetched>
  );
}

/** CD24: how large it is, once, and how much has come, which is not read out at each part. */
function Fetching({ received }: { received: Received | null }) {
  const t = useTranslations('card.model');
  const locale = useLocale();
  const total = received?.total ?? null;
  return (
    <div data-testid="fetching">
      <p role="status">
        {total === null ? t('loading') : t('loadingSize', { size: formatBytes(total, locale) })}
      </p>
      {received !== null && (
        <div className="mt-1 flex items-center gap-3 text-xs text-muted">
          <progress
            aria-label={t('loading')}
            {...(total === null ? {} : { max: total, value: received.received })}
            className="h-1.5 min-w-0 flex-1 accent-accent"
          />
          <span className="tabular-nums">{formatBytes(received.received, locale)}</span>
        </div>
      )}
    </div>
  );
}
