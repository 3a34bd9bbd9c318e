'use client';

import { useTranslations } from 'next-intl';
import { useIsViewer } from '../providers/workbench-context.tsx';

/** In place of what a viewer may not do: why it is not there. Nobody reads it before it is known who is signed in. */
export function ViewerNote() {
  const t = useTranslations('shell.me');
  return useIsViewer() ? <p className="text-muted">{t('viewerNote')}</p> : null;
}
