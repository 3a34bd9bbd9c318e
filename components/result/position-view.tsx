'use client';

import { useLocale, useTranslations } from 'next-intl';
import { Boundary } from '../ui/boundary.tsx';
import { late } from '../ui/late.tsx';
import type { Position } from './choose-result-view.ts';
import type { LocatorMapProps } from './locator-map.tsx';

/** The outline of the world is 21 kB: fetched with the first position. */
const LocatorMap = late<LocatorMapProps>(
  () => import('./locator-map.tsx').then((module) => module.LocatorMap),
  { frame: (words) => <div className="p-2 text-xs">{words}</div> },
);

/** A position on a map that is drawn here: no map service receives where a person is. */
export function PositionView({ position }: { position: Position }) {
  const t = useTranslations('card.result');
  const locale = useLocale();
  const { latitude, longitude, accuracy, altitude } = position;
  const meters = (value: number) => value.toLocaleString(locale, { maximumFractionDigits: 0 });
  const place = `mlat=${latitude}&mlon=${longitude}#map=15/${latitude}/${longitude}`;
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
      <div className="h-30 w-60 max-w-full overflow-hidden rounded-md bg-surface2">
        <Boundary of={position} fallback={null}>
          <LocatorMap
            latitude={latitude}
            longitude={longitude}
            label={t('map', { latitude, longitude })}
          />
        </Boundary>
      </div>
      <div>
        <dl className="grid grid-cols-[auto_1fr] gap-x-3">
          <dt className="text-muted">{t('latitude')}</dt>
          <dd className="mono">
            {latitude}, {longitude}
          </dd>
          {accuracy !== null && (
            <>
              <dt className="text-muted">{t('accuracy')}</dt>
              <dd>{t('accuracyValue', { meters: meters(accuracy) })}</dd>
            </>
          )}
          {altitude !== null && (
            <>
              <dt className="text-muted">{t('altitude')}</dt>
              <dd>{t('meters', { meters: meters(altitude) })}</dd>
            </>
          )}
        </dl>
        <p className="text-xs text-muted">
          {t('datum')} ·{' '}
          <a
            href={`https://www.openstreetmap.org/?${place}`}
            target="_blank"
            rel="noreferrer"
            className="text-accent underline underline-offset-2"
          >
            {t('openMap')}
          </a>
        </p>
      </div>
    </div>
  );
}
