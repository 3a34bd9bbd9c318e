'use client';

import { useTranslations } from 'next-intl';
import type { Card } from '#lib/protocol/card';
import { ResultView } from '../result/result-view.tsx';
import { Disclosure } from './disclosure.tsx';
import { FetchedRecord } from './fetched-record.tsx';

export interface LateAnswerProps {
  callId: string;
  card: Card;
  blobUrl: (blobId: string) => string;
}

/** CD17: what came after the end. A card has only that it came, so its record is fetched. */
export function LateAnswer(props: LateAnswerProps) {
  const t = useTranslations('card');
  return (
    <div className="mt-1.5">
      <p className="text-xs text-wait">{t('tip.late')}</p>
      <Disclosure label={t('part.late')} memoryKey={`${props.callId}:late`}>
        {() => <Content {...props} />}
      </Disclosure>
    </div>
  );
}

const Content = ({ callId, card, blobUrl }: LateAnswerProps) => (
  <FetchedRecord callId={callId}>
    {(call) => (
      <ResultView
        value={call.late_result}
        attachments={[]}
        name={card.tool_name ?? ''}
        blobUrl={blobUrl}
      />
    )}
  </FetchedRecord>
);
