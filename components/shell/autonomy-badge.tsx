'use client';

import { ShieldAlert, ShieldCheck } from 'lucide-react';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { useAutonomyLevel } from '../providers/workbench-context.tsx';
import { Tooltip } from '../ui/tooltip.tsx';

/** On every page, where agents do more or less than usual without a person (AN2). */
export function AutonomyBadge() {
  const t = useTranslations('shell.autonomy');
  const level = useAutonomyLevel();
  if (level !== 'full' && level !== 'read_only') return null;
  const Icon = level === 'full' ? ShieldAlert : ShieldCheck;
  return (
    <Tooltip text={t(`is.${level}`)}>
      <Link
        href="/settings/policy"
        data-testid="autonomy-badge"
        data-level={level}
        className={`btn btn-sm shrink-0 ${level === 'full' ? 'border-error text-error' : 'bg-waitbg text-wait'}`}
      >
        <Icon aria-hidden className="size-4 shrink-0" />
        <span className="sr-only">{t(`is.${level}`)}</span>
        <span aria-hidden className="max-[480px]:hidden">
          {t(`short.${level}`)}
        </span>
      </Link>
    </Tooltip>
  );
}
