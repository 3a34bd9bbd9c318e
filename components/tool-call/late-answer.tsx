'use client';

import { useTranslations } from 'next-intl';
import { showControlCharacters } from '#lib/format/show-control-characters';
import type { Card } from '#lib/protocol/card';
import { ResultView } from '../result/result-view.tsx';
import { Disclosure } from './disclosure.tsx';
import { useCallRecord } from './use-call-record.ts';

export interface LateAnswerProps {
  callId: string;
  card: Card;
  blobUrl: (blobId: string) => string;
}

/** CD17: what came after the end. A card knows only that it came, so its record is asked. */
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

function Content({ callId, card, blobUrl }: LateAnswerProps) {
  const t = useTranslations('card');
  const record = useCallRecord(callId);
  if (record === null) return <p role="status">{t('model.loading')}</p>;
  if (!record.ok) {
    return (
      <p role="alert" className="text-error wrap-anywhere">
        {showControlCharacters(record.message)}
      </p>
    );
  }
  return (
    <ResultView
      value={record.value.late_result}
      attachments={[]}
      name={card.tool_name ?? ''}
      blobUrl={blobUrl}
    />
  );
}
