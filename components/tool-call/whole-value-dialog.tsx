'use client';

import { useTranslations } from 'next-intl';
import { Dialog } from '#components/ui/dialog';
import { showControlCharacters } from '#lib/format/show-control-characters';
import type { WireCallRecord } from '#lib/protocol/call-record';
import { DownloadButton } from '../result/download-button.tsx';
import { ResultView } from '../result/result-view.tsx';
import { FetchedRecord } from './fetched-record.tsx';
import { type CardPart, fileNameOf, wholeOf } from './whole-value.ts';

export interface WholeValueDialogProps {
  callId: string;
  part: CardPart;
  blobUrl: (blobId: string) => string;
  onClose: () => void;
}

/** All of a value of which the card shows the beginning, from the call's record. */
export function WholeValueDialog({ callId, part, blobUrl, onClose }: WholeValueDialogProps) {
  const t = useTranslations('card');
  const common = useTranslations('common');
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t(`part.${part}`)}
      closeLabel={common('close')}
      width="max-w-4xl"
    >
      <FetchedRecord callId={callId}>
        {(call) => <Whole call={call} part={part} blobUrl={blobUrl} />}
      </FetchedRecord>
    </Dialog>
  );
}

type WholeProps = Pick<WholeValueDialogProps, 'part' | 'blobUrl'> & { call: WireCallRecord };

function Whole({ call, part, blobUrl }: WholeProps) {
  const t = useTranslations('card');
  return (
    <>
      <p className="mono mb-2 text-xs text-muted wrap-anywhere">
        {showControlCharacters(call.tool_name)} · {call.tool_call_id}
      </p>
      <ResultView
        value={wholeOf(call, part)}
        attachments={[]}
        name={fileNameOf(call, part)}
        blobUrl={blobUrl}
      />
      {part === 'result' && call.display !== undefined && (
        <p className="mt-1 text-xs">
          <DownloadButton
            value={call.result}
            name={`${call.tool_name}-output`}
            label={t('action.downloadOutput')}
          />
        </p>
      )}
    </>
  );
}
