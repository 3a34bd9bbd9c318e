'use client';

import { useTranslations } from 'next-intl';
import { useState } from 'react';
import type { ApiResult } from '#lib/api/api-result';
import type { ApprovalListing } from '#lib/protocol/watch-messages';
import { withApprovals } from '#lib/stores/fold-listings';
import { useFailureToast } from '../failure/format-failure.ts';
import { useApprovalsLeftOut, useWorkbench } from '../providers/workbench-context.tsx';
import { Button } from '../ui/button.tsx';

interface ApprovalsPage {
  readonly approvals: readonly ApprovalListing[];
  readonly next_cursor: string | null;
}

const PATH = '/v1/approvals?limit=200';

/** That more waits than the feed had room for, and a way to it; nothing where it had. */
export function MoreApprovals() {
  const t = useTranslations('approvals');
  const { api, listings } = useWorkbench();
  const showFailure = useFailureToast();
  const count = useApprovalsLeftOut();
  const [isLoading, setIsLoading] = useState(false);
  if (count === 0) return null;

  /** From the first page on, as a snapshot may have come meanwhile, until one has something new. */
  const load = async () => {
    const before = listings.getState().approvals.length;
    for (let next: string | null = null; ; ) {
      const path: string = next === null ? PATH : `${PATH}&cursor=${encodeURIComponent(next)}`;
      const answer: ApiResult<ApprovalsPage> = await api.request({ method: 'GET', path });
      if (!answer.ok) return showFailure(t('notFetched'), answer);
      const page: ApprovalsPage = answer.value;
      next = page.next_cursor;
      listings.setState((state) => withApprovals(state, page.approvals, page.next_cursor === null));
      if (next === null || listings.getState().approvals.length > before) return;
    }
  };
  const press = async () => {
    if (isLoading) return;
    setIsLoading(true);
    await load();
    setIsLoading(false);
  };
  return (
    <div
      data-testid="more-approvals"
      className="mb-6 flex flex-wrap items-center gap-x-3 gap-y-1 text-muted"
    >
      <p role="status">{t('leftOut', { count })}</p>
      {/* Not disabled while it loads: that would take the focus away from it. */}
      <Button size="sm" aria-disabled={isLoading} onClick={() => void press()}>
        {t(isLoading ? 'loading' : 'fetch')}
      </Button>
    </div>
  );
}
