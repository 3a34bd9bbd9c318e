'use client';

import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { late } from '../ui/late.tsx';
import type { StepRequestsProps } from './step-requests.tsx';

const StepRequests = late<StepRequestsProps>(() =>
  import('./step-requests.tsx').then((module) => module.StepRequests),
);

/** Under a message of the agent: which model wrote it, how long it took and what it cost. Fetched when opened. */
export function StepDetails(props: StepRequestsProps) {
  const t = useTranslations('conversation');
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      data-testid="step-details"
      onToggle={(event) => setOpen(event.currentTarget.open)}
      className="text-xs text-muted"
    >
      <summary className="min-h-6 w-fit cursor-pointer rounded px-1.5 leading-6 hover:text-fg pointer-coarse:leading-11">
        {t('details')} <span className="sr-only">{t('detailsOf')}</span>
      </summary>
      {isOpen && <StepRequests {...props} />}
    </details>
  );
}
