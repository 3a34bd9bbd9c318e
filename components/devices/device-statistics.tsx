'use client';

import { useLocale, useTranslations } from 'next-intl';
import { useState } from 'react';
import type { ApiResult } from '#lib/api/api-result';
import { LAST_CALLS } from '#lib/api/devices-api';
import { formatDuration } from '#lib/format/format-duration';
import { formatRelativeTime } from '#lib/format/format-relative-time';
import { Fetched } from '../failure/fetched.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import type { DeviceRow } from './device-row.ts';
import { type LastCalls, summarise } from './last-calls.ts';
import { useDevicesApi } from './use-devices-api.ts';

/** How its newest calls went; asked for when a person opens it. */
export function DeviceStatistics({ row, now }: { row: DeviceRow; now: number }) {
  const t = useTranslations('devices.statistics');
  const api = useDevicesApi();
  const [answer, setAnswer] = useState<ApiResult<LastCalls> | null>(null);
  const look = async () => {
    const got = await api.lastCalls(row.clientId);
    setAnswer(got.ok ? { ok: true, value: summarise(got.value.tool_calls) } : got);
  };
  return (
    <details
      className="mt-1 text-[13px]"
      onToggle={({ currentTarget }) => currentTarget.open && void look()}
    >
      <summary className="min-h-6">{t('label', { count: LAST_CALLS })}</summary>
      <Fetched answer={answer} loading={<p className="text-muted">{t('loading')}</p>}>
        {(value) => <Figures value={value} now={now} />}
      </Fetched>
    </details>
  );
}

function Figures({ value, now }: { value: LastCalls; now: number }) {
  const t = useTranslations('devices.statistics');
  const locale = useLocale();
  const { ended, failed, medianMs, lastError } = value;
  if (ended === 0) return <p className="text-muted">{t('none')}</p>;
  return (
    <>
      <p className="tabular-nums">
        {t('figures', { ended, failed })}
        {medianMs !== null && ` · ${t('median', { time: formatDuration(medianMs, locale) })}`}
      </p>
      {lastError && (
        <p className="text-error wrap-anywhere">
          {t('lastError', { ago: formatRelativeTime(lastError.at * 1_000, now, locale) })}{' '}
          <span className="mono">
            <MarkedText text={lastError.tool} />
          </span>
          {': '}
          <MarkedText text={lastError.message} />
        </p>
      )}
    </>
  );
}
