'use client';

import { useLocale, useTranslations } from 'next-intl';
import { useCallback } from 'react';
import { formatBytes } from '#lib/format/amounts';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { ModelOutputRecord } from '#lib/protocol/model-turn';
import { Fetched } from '../failure/fetched.tsx';
import { useAnswer } from '../failure/use-answer.ts';
import { useApi } from '../providers/workbench-context.tsx';
import { ScrollRegion } from '../result/scroll-region.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { MarkedText } from '../ui/marked-text.tsx';

export interface ModelOutputDialogProps {
  callId: string;
  onClose: () => void;
}

/** The very words that a model gets of a call, and the requests that had them. */
export function ModelOutputDialog({ callId, onClose }: ModelOutputDialogProps) {
  const t = useTranslations('card');
  const common = useTranslations('common');
  const api = useApi();
  const answer = useAnswer(useCallback(() => api.getModelOutput(callId), [api, callId]));
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t('model.title')}
      description={t('model.note')}
      closeLabel={common('close')}
      width="max-w-2xl"
    >
      <Fetched answer={answer} loading={<p role="status">{t('model.loadingText')}</p>}>
        {(output) => <Output output={output} />}
      </Fetched>
    </Dialog>
  );
}

function Output({ output }: { output: ModelOutputRecord }) {
  const t = useTranslations('card.model');
  const locale = useLocale();
  const { text, images, bytes, cut } = output;
  if (!isFinalStatus(output.status) && output.sent.length === 0) return <p>{t('open')}</p>;
  return (
    <>
      <p className="mb-2 text-xs text-muted">
        {t('size', { chars: text.length, images: images.length })} · {formatBytes(bytes, locale)}
        {cut && ` · ${t('cut')}`}
      </p>
      <ScrollRegion label={t('title')} className="max-h-[50dvh] rounded-md bg-surface2">
        <pre data-testid="model-output" className="mono whitespace-pre-wrap p-2 wrap-anywhere">
          <MarkedText text={text} keepLayout />
        </pre>
      </ScrollRegion>
      <Sent output={output} />
    </>
  );
}

/** Which requests had it, and whether it was this text. */
function Sent({ output }: { output: ModelOutputRecord }) {
  const t = useTranslations('card.model');
  const locale = useLocale();
  if (output.sent.length === 0) return <p className="mt-2 text-xs text-muted">{t('notSent')}</p>;
  const time = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' });
  return (
    <ul data-testid="model-output-sent" className="mt-2 space-y-1 text-xs text-muted">
      {output.sent.map((one) => (
        <li key={one.number}>
          {t('sent', {
            model: one.model,
            time: time.format(one.started_at * 1_000),
            turn: one.turn,
            step: one.step,
          })}{' '}
          {one.sha256 === output.sha256
            ? t('same', { images: one.images.length })
            : t(one.rendering === output.rendering ? 'changed' : 'otherForm', {
                size: formatBytes(one.bytes, locale),
              })}
          <span className="mono mt-0.5 block truncate" title={one.sha256}>
            SHA-256 {one.sha256}
          </span>
        </li>
      ))}
    </ul>
  );
}
