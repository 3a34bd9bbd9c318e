'use client';

import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { questionsOf } from '#lib/stores/questions-of';
import { useApprovals, useApprovalsLeftOut } from '../providers/workbench-context.tsx';

/** How many questions wait for a person, on every page; nothing while none does. */
export function ApprovalsLink() {
  const t = useTranslations('shell');
  const count = questionsOf(useApprovals()).length + useApprovalsLeftOut();
  if (count === 0) return null;
  return (
    <Link
      href="/approvals"
      data-testid="approvals"
      className="btn btn-sm shrink-0 bg-waitbg text-wait tabular-nums"
    >
      <span className="max-[1799px]:sr-only">{t('approvals', { count })}</span>
      <span aria-hidden className="min-[1800px]:hidden">
        {count}
      </span>
    </Link>
  );
}
