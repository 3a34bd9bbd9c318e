'use client';

import { useTranslations } from 'next-intl';
import { jsonPreview } from '#lib/format/json-preview';
import { isSmallJson } from '#lib/json/measure-json';
import type { Card } from '#lib/protocol/card';
import { COMPLETION_TOOL } from '#lib/protocol/completion';
import { ResultView } from '../result/result-view.tsx';
import type { CardActions } from './card-actions.ts';
import { Disclosure } from './disclosure.tsx';
import { wholeFor } from './whole-for.ts';

export interface CardResultProps {
  callId: string;
  card: Card;
  actions: CardActions;
}

/** Results up to this size are open from the start: reading them costs no scrolling. */
const OPEN = { maxNodes: 80, maxBytes: 1_200 };
const PREVIEW_CHARS = 120;

/** A call's result: small ones in the open, large ones on demand. */
export function CardResult({ callId, card, actions }: CardResultProps) {
  const t = useTranslations('card.part');
  const attachments = card.attachments ?? [];
  const isSmall = isSmallJson(card.result, OPEN);
  return (
    <Disclosure
      label={t('result')}
      preview={jsonPreview(card.result, PREVIEW_CHARS)}
      memoryKey={`${callId}:result`}
      className="mt-1"
      openByDefault={isSmall || attachments.length > 0}
    >
      {() => (
        <ResultView
          value={card.result}
          attachments={attachments}
          name={card.tool_name ?? ''}
          blobUrl={actions.blobUrl}
          whole={wholeFor(callId, card, 'result', actions)}
          isAnswer={card.source === 'server' && card.tool_name === COMPLETION_TOOL}
        />
      )}
    </Disclosure>
  );
}
