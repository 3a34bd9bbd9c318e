'use client';

import { useTranslations } from 'next-intl';
import { Dialog } from '#components/ui/dialog';
import { MarkedText } from '#components/ui/marked-text';
import { toModelOutput } from '#lib/call/model-output';
import type { WireCallRecord } from '#lib/protocol/call-record';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { ScrollRegion } from '../result/scroll-region.tsx';
import { FetchedRecord } from './fetched-record.tsx';

export interface ModelOutputDialogProps {
  callId: string;
  onClose: () => void;
}

/** The very words that the model got of a call, from its record. */
export function ModelOutputDialog({ callId, onClose }: ModelOutputDialogProps) {
  const t = useTranslations('card');
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t('model.title')}
      description={t('model.note')}
      closeLabel={t('action.close')}
      width="max-w-2xl"
    >
      <FetchedRecord callId={callId}>{(call) => <Output call={call} />}</FetchedRecord>
    </Dialog>
  );
}

function Output({ call }: { call: WireCallRecord }) {
  const t = useTranslations('card');
  if (!isFinalStatus(call.status)) return <p>{t('model.open')}</p>;
  const { text, images } = toModelOutput(call);
  return (
    <>
      <p className="mb-2 text-xs text-muted">
        {t('model.size', { chars: text.length, images: images.length })}
      </p>
      <ScrollRegion label={t('model.title')} className="max-h-[60dvh] rounded-md bg-surface2">
        <pre data-testid="model-output" className="mono whitespace-pre-wrap p-2 wrap-anywhere">
          <MarkedText text={text} keepLayout />
        </pre>
      </ScrollRegion>
    </>
  );
}
