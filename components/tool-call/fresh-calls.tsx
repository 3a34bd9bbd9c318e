'use client';

import { useTranslations } from 'next-intl';
import { Button } from '#components/ui/button';

export interface FreshCallsProps {
  /** How many came since the list was held. */
  fresh: number;
  /** Ids of calls that wait for a decision out of sight, oldest first. */
  asking: readonly string[];
  /** Shows the newest calls, or one that is asked about. */
  onShow: (callId: string | undefined) => void;
}

/** Over a list that stays as it is: what came meanwhile, and the decisions that wait (CD12, CD26). */
export function FreshCalls({ fresh, asking, onShow }: FreshCallsProps) {
  const t = useTranslations('card.list');
  if (fresh === 0 && asking.length === 0) return null;
  const isAsking = asking.length > 0;
  return (
    <Button
      variant="primary"
      size="sm"
      onClick={() => onShow(asking[0])}
      className={`absolute left-1/2 top-1 z-10 -translate-x-1/2 rounded-full shadow ${isAsking ? 'border-attn! bg-attn! text-attnfg!' : ''}`}
      data-testid="fresh-calls"
    >
      {!isAsking && t('fresh', { count: fresh })}
      {isAsking && fresh <= asking.length && t('asking', { count: asking.length })}
      {isAsking && fresh > asking.length && t('freshAsking', { fresh, asking: asking.length })}
    </Button>
  );
}
