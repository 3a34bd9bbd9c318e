'use client';

import { useTranslations } from 'next-intl';
import { useId } from 'react';
import { useCall, useConnection } from '../providers/workbench-context.tsx';
import type { CardActions } from '../tool-call/card-actions.ts';
import { ConnectedCard } from '../tool-call/connected-card.tsx';
import { useCardActions } from '../tool-call/use-card-actions.tsx';

const LIST = { role: 'list' };

/** The live cards of calls made by hand here, newest first. */
export function ManualCalls({ callIds }: { callIds: readonly string[] }) {
  const t = useTranslations('tools.try');
  const titleId = useId();
  const { actions, dialog } = useCardActions();
  const isStale = useConnection().feed.kind !== 'connected';
  if (callIds.length === 0) return null;
  return (
    <section aria-labelledby={titleId} className="mt-4">
      <h3 id={titleId} className="mb-2 font-semibold">
        {t('calls')}
      </h3>
      <ol className="flex flex-col gap-2" {...LIST}>
        {callIds.map((callId) => (
          <li key={callId}>
            <ManualCall callId={callId} isStale={isStale} actions={actions} />
          </li>
        ))}
      </ol>
      {dialog}
    </section>
  );
}

interface ManualCallProps {
  callId: string;
  isStale: boolean;
  actions: CardActions;
}

function ManualCall(props: ManualCallProps) {
  const t = useTranslations('tools.try');
  const isKnown = useCall(props.callId) !== undefined;
  return isKnown ? (
    <ConnectedCard {...props} />
  ) : (
    <p role="status" className="text-muted">
      {t('sent')}
    </p>
  );
}
