'use client';

import { useTranslations } from 'next-intl';
import { useCallback } from 'react';
import type { BlockedOrigin } from '#lib/protocol/device';
import { useFailureToast } from '../failure/format-failure.ts';
import { useDeviceChanges } from '../providers/workbench-context.tsx';
import { Button } from '../ui/button.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { useDevicesApi } from './use-devices-api.ts';
import { useRefreshed } from './use-refreshed.ts';

/** Pages that were refused for good, each with a way to be asked about it again. */
export function BlockedOrigins() {
  const t = useTranslations('devices.blocked');
  const api = useDevicesApi();
  const showFailure = useFailureToast();
  const ask = useCallback(async () => {
    const answer = await api.listBlocked();
    return answer.ok ? { ok: true as const, value: answer.value.origins } : answer;
  }, [api]);
  const { value, again } = useRefreshed<readonly BlockedOrigin[]>(ask, useDeviceChanges());
  const lift = async (origin: string) => {
    const answer = await api.liftBlocked(origin);
    if (answer.ok) again();
    else showFailure(t('notLifted'), answer);
  };
  if (!value || value.length === 0) return null;
  return (
    <section aria-label={t('title')} className="mt-6">
      <h2 className="font-bold">{t('title')}</h2>
      <p className="text-muted">{t('text')}</p>
      <ul className="mt-1 space-y-1">
        {value.map(({ origin }) => (
          <li key={origin} className="flex flex-wrap items-center gap-2">
            <span className="mono wrap-anywhere">
              <MarkedText text={origin} />
            </span>
            <Button
              size="sm"
              aria-label={t('liftNamed', { origin })}
              onClick={() => void lift(origin)}
            >
              {t('lift')}
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}
