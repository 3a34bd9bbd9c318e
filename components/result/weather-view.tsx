'use client';

import { useTranslations } from 'next-intl';
import { MarkedText } from '../ui/marked-text.tsx';
import type { Weather } from './choose-result-view.ts';
import { TableView } from './table-view.tsx';

/** The weather at a glance: the temperature large, the rest beside it. */
export function WeatherView({ weather }: { weather: Weather }) {
  const t = useTranslations('card.result');
  const rows = [
    [t('feelsLike'), weather.feelsLike],
    [t('humidity'), weather.humidity],
    [t('wind'), weather.wind],
  ] as const;
  return (
    <>
      <Now weather={weather} rows={rows} />
      {weather.forecast && <TableView table={weather.forecast} />}
    </>
  );
}

interface NowProps {
  weather: Weather;
  rows: readonly (readonly [string, string | null])[];
}

function Now({ weather, rows }: NowProps) {
  return (
    <div className="mb-1 flex flex-wrap items-center gap-x-5 gap-y-1">
      <div>
        {weather.place !== null && (
          <p className="text-muted">
            <MarkedText text={weather.place} />
          </p>
        )}
        <p className="text-2xl font-semibold tabular-nums">{weather.temperature}</p>
        {weather.conditions !== null && (
          <p>
            <MarkedText text={weather.conditions} />
          </p>
        )}
      </div>
      <dl className="grid grid-cols-[auto_auto] gap-x-4">
        {rows.map(
          ([name, value]) =>
            value !== null && (
              <div key={name} className="contents">
                <dt className="text-muted">{name}</dt>
                <dd className="tabular-nums">{value}</dd>
              </div>
            ),
        )}
      </dl>
    </div>
  );
}
