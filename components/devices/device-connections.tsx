'use client';

import { useLocale, useTranslations } from 'next-intl';
import { formatDuration } from '#lib/format/format-duration';
import type { ClientListing } from '#lib/protocol/watch-messages';
import type { DeviceRow } from './device-row.ts';

/** What each connection reports of itself: seen or not, battery, latency, transport, context. */
export function DeviceConnections({ row }: { row: DeviceRow }) {
  const t = useTranslations('devices.connection');
  if (row.instances.length === 0) return null;
  return (
    <ul aria-label={t('label')} className="mt-1 text-[13px]">
      {row.instances.map((instance, at) => (
        // Instances have no id on the wire; their order is stable.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <li key={at}>
          <Connection instance={instance} />
        </li>
      ))}
    </ul>
  );
}

function Connection({ instance }: { instance: ClientListing }) {
  const t = useTranslations('devices.connection');
  const locale = useLocale();
  const { kind, visible, responsive, battery, latency_ms, secure_context } = instance;
  const level = battery && Math.round(battery.level * 100);
  return [
    kind !== 'program' && t(visible ? 'visible' : 'hidden'),
    !responsive && t('silent'),
    battery && t(battery.charging ? 'charging' : 'battery', { level: level ?? 0 }),
    latency_ms !== undefined && t('latency', { time: formatDuration(latency_ms, locale) }),
    secure_context === false && t('insecure'),
  ]
    .filter((part) => typeof part === 'string')
    .join(' · ');
}
