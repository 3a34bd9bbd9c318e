'use client';

import { useTranslations } from 'next-intl';
import { useTab } from '../providers/workbench-context.tsx';

/** Beside what was asked for, while that waits for the registration of this tab's tools. */
export function TabWait() {
  const common = useTranslations('common');
  if (useTab().waiting === 0) return null;
  return <p className="w-full text-muted">{common('connectingTab')}</p>;
}
