'use client';

import { useTranslations } from 'next-intl';
import { useEffect, useSyncExternalStore } from 'react';
import { Button } from '#components/ui/button';
import type { Card } from '#lib/protocol/card';
import { useAnnounce } from '../providers/workbench-context.tsx';
import { askedCancel } from './asked-cancel.ts';
import type { CardActions } from './card-actions.ts';
import type { CardView } from './card-view.ts';

export interface CardButtonsProps {
  callId: string;
  card: Card;
  view: CardView;
  /** A cancel was requested, and the server has not reported it yet. */
  isAsked: boolean;
  actions: CardActions;
}

/** What can be done with a call now. What is rarer lies in the menu. */
export function CardButtons({ callId, card, view, isAsked, actions }: CardButtonsProps) {
  const t = useTranslations('card.action');
  return (
    <div className="flex flex-wrap gap-2 empty:hidden">
      {card.error?.code === 'invalid_args' && card.tool_name && (
        <a className="btn btn-sm" href={`/tools?tool=${encodeURIComponent(card.tool_name)}`}>
          {t('openTool')}
        </a>
      )}
      {view.actions.extend && (
        <Button data-action="extend" size="sm" onClick={() => actions.extend(callId)}>
          {t('extend')}
        </Button>
      )}
      {view.actions.cancel && (
        <CancelButton
          callId={callId}
          isAsked={isAsked}
          onClick={() => void actions.cancel(callId)}
        />
      )}
      {/* Its result is known: running it again lies in the menu. */}
      {view.actions.retry && card.status === 'ERROR' && view.kind !== 'repeated' && (
        <Button
          data-action="retry"
          data-decides=""
          size="sm"
          // A double click is one wish, also where the answer came between its clicks.
          onClick={({ detail }) => detail > 1 || actions.retry(callId)}
        >
          {t(view.mayRepeat ? 'retryAgain' : 'retry')}
        </Button>
      )}
    </div>
  );
}

type CancelButtonProps = Pick<CardButtonsProps, 'callId' | 'isAsked'> & { onClick: () => void };

/** By the mouse it cancels at once; the key is pressed twice, as the button shows (CD37). */
function CancelButton({ callId, isAsked, onClick }: CancelButtonProps) {
  const t = useTranslations('card.action');
  const announce = useAnnounce();
  const asked = useSyncExternalStore(askedCancel.subscribe, askedCancel.get, askedCancel.get);
  const isKeyAsked = asked === callId && !isAsked;
  useEffect(() => {
    if (isKeyAsked) announce(t('cancelAgain'));
  }, [isKeyAsked, announce, t]);
  return (
    <Button
      data-action="cancel"
      data-decides=""
      size="sm"
      variant={isKeyAsked ? 'danger' : 'plain'}
      disabled={isAsked}
      onClick={onClick}
    >
      {t(isAsked ? 'cancelled' : isKeyAsked ? 'cancelAgain' : 'cancel')}
    </Button>
  );
}
