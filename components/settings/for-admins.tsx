'use client';

import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import { useHasRole, useMe } from '../providers/workbench-context.tsx';
import { useWho } from '../shell/who.tsx';

/** A page of administrators under its title; others read that it takes one, and nothing is asked of the server. */
export function ForAdmins({ title, children }: { title: string; children: ReactNode }) {
  const t = useTranslations('settings');
  const common = useTranslations('common');
  const isKnown = useMe() !== null;
  const isAdmin = useHasRole('admin');
  const who = useWho();
  return (
    <>
      <h1 className="mb-1 text-lg font-bold">{title}</h1>
      {isAdmin && children}
      {!isAdmin && isKnown && (
        <p className="rounded-lg border border-line bg-surface px-3 py-2">
          {t('forAdmins')} {who?.text}
        </p>
      )}
      {!isKnown && <p className="text-muted">{common('loading')}</p>}
    </>
  );
}
