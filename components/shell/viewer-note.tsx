'use client';

import { useTranslations } from 'next-intl';

/** In place of what a viewer may not do: why it is not there. */
export function ViewerNote() {
  return <p className="text-muted">{useTranslations('shell.me')('viewerNote')}</p>;
}
