'use client';

import { useTranslations } from 'next-intl';
import { useTab } from '../providers/workbench-context.tsx';

/** Beside what was asked for, while that waits for the registration of this tab's tools. */
export function TabWait() {
  const t = useTranslations('shell.tab');
  if (useTab().waiting === 0) return null;
  return <p className="w-full text-muted">{t('connecting')}</p>;
}
