'use client';

import { useTranslations } from 'next-intl';
import { useEffect, useId, useLayoutEffect, useRef } from 'react';
import { Button } from '#components/ui/button';
import { MarkedText } from '#components/ui/marked-text';
import { showControlCharacters } from '#lib/format/show-control-characters';
import type { Card } from '#lib/protocol/card';
import { useAnnounce } from '../providers/workbench-context.tsx';
import { showErrorToast, showToast } from '../ui/toast.ts';
import { copyText } from './copy-text.ts';
import { changeKept, forgetText, type KeptText, keptTextOf } from './kept-texts.ts';
import { focusAt } from './use-kept-text.ts';

export interface KeptTextPanelProps {
  callId: string;
  card: Card;
  kept: KeptText;
}

/** What a person was writing or had chosen when another decided, until the person closes it (AP12). */
export function KeptTextPanel({ callId, card, kept }: KeptTextPanelProps) {
  const t = useTranslations('card');
  const common = useTranslations('common');
  const id = useId();
  const announce = useAnnounce();
  const field = useRef<HTMLTextAreaElement>(null);
  const name = showControlCharacters(card.approval_decision?.by ?? '');
  const isChosen = kept.chosen !== undefined;
  const why = t(`kept.${howItEnded(card)}`, { name, what: isChosen ? 'chosen' : 'written' });
  useLayoutEffect(() => {
    // Noted as its field goes, which is after this was rendered and before it is in the page.
    const caret = keptTextOf(callId)?.caret ?? null;
    if (caret !== null && field.current) focusAt(field.current, caret);
  }, [callId]);
  useEffect(() => announce(why), [announce, why]);
  const copy = async () => {
    if (await copyText(kept.text)) showToast(common('copied'));
    else showErrorToast(common('notCopied'));
  };
  const close = () => forgetText(callId);
  return (
    <div className="mt-2 rounded-md border border-line p-2" data-kept="" data-testid="kept-text">
      <p id={id} className="text-wait wrap-anywhere">
        <MarkedText text={why} />
      </p>
      {isChosen ? (
        <p className="mt-1 font-medium whitespace-pre-wrap wrap-anywhere" lang="">
          <MarkedText text={kept.text} keepLayout />
        </p>
      ) : (
        <textarea
          ref={field}
          rows={Math.min(12, kept.text.split('\n').length + 1)}
          aria-label={t('kept.text')}
          aria-describedby={id}
          value={kept.text}
          onChange={(event) => changeKept(callId, { text: event.target.value })}
          onKeyDown={({ key, nativeEvent }) => {
            if (key === 'Escape' && !nativeEvent.isComposing) close();
          }}
          className="field mt-1 w-full"
        />
      )}
      <div className="mt-2 flex flex-wrap gap-2">
        <Button size="sm" onClick={() => void copy()}>
          {t('kept.copy')}
        </Button>
        <Button size="sm" onClick={close}>
          {common('close')}
        </Button>
      </div>
    </div>
  );
}

function howItEnded({ approval_decision: was, question }: Card) {
  if (!was) return 'ended';
  if (question) return was.decision === 'no' ? 'declined' : 'answered';
  if (was.decision === 'answer') return 'answered';
  return was.decision === 'no' ? 'denied' : 'allowed';
}
