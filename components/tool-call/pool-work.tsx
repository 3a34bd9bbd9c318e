'use client';

import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import { useCalls } from '../providers/workbench-context.tsx';
import { Disclosure } from './disclosure.tsx';

export interface PoolWorkProps {
  /** The call that asks each client. */
  callId: string;
  isLive: boolean;
  renderCard: (callId: string) => ReactNode;
}

const LIST = { role: 'list' };

/** The calls of a call that asks each client, in its card (CD42). */
export function PoolWork({ callId, isLive, renderCard }: PoolWorkProps) {
  const t = useTranslations('card.elsewhere');
  // As one text, which is the same for the same calls.
  const joined = useCalls(({ byId, order }) =>
    order.filter((id) => byId[id]?.card.parent_call_id === callId).join(' '),
  );
  if (joined === '') return null;
  return (
    <Disclosure
      label={t('calls')}
      memoryKey={`${callId}:pool`}
      className="mt-1.5"
      openByDefault={isLive}
    >
      {() => (
        <ol aria-label={t('calls')} {...LIST} className="space-y-2 border-l-2 border-line pl-2">
          {joined.split(' ').map((id) => (
            <li key={id} className="min-w-0">
              {renderCard(id)}
            </li>
          ))}
        </ol>
      )}
    </Disclosure>
  );
}
