'use client';

import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { MarkedText } from '../ui/marked-text.tsx';
import type { DeviceRow } from './device-row.ts';

/** Its tools, each with the state of its permission and a way to try it; those that it may offer and does not are listed as such. */
export function DeviceTools({ row }: { row: DeviceRow }) {
  const t = useTranslations('devices.tools');
  const offered = new Set(row.instances.flatMap(({ tools }) => tools));
  const allowed = row.device?.tools.map(({ name }) => name) ?? [];
  const names = [...new Set([...offered, ...allowed])].toSorted();
  const permissions = Object.assign({}, ...row.instances.map((one) => one.permissions ?? {}));
  if (names.length === 0) return <p className="mt-1 text-[13px] text-muted">{t('none')}</p>;
  return (
    <details className="mt-1">
      <summary className="min-h-6 text-[13px]">
        {t('label', { offered: offered.size, all: names.length })}
      </summary>
      <ul className="mt-1 space-y-0.5">
        {names.map((name) => (
          <li key={name} className="flex flex-wrap items-center gap-x-2 text-[13px]">
            {offered.has(name) ? (
              <Link
                href={`/tools?${new URLSearchParams({ tool: name, client: row.clientId })}`}
                className="mono underline wrap-anywhere"
                title={t('try')}
              >
                <MarkedText text={name} />
              </Link>
            ) : (
              <span className="mono wrap-anywhere">
                <MarkedText text={name} />
              </span>
            )}
            {!offered.has(name) && <span className="text-muted">{t('notOffered')}</span>}
            <PermissionState state={Object.hasOwn(permissions, name) ? permissions[name] : null} />
          </li>
        ))}
      </ul>
    </details>
  );
}

const STATES = ['granted', 'prompt', 'denied'] as const;

function PermissionState({ state }: { state: unknown }) {
  const t = useTranslations('devices.tools.permission');
  const known = STATES.find((one) => one === state);
  if (!known) return null;
  return <span className={known === 'denied' ? 'text-error' : 'text-muted'}>{t(known)}</span>;
}
