import { useTranslations } from 'next-intl';
import { personName } from '#lib/format/person-name';
import type { Message } from '#lib/protocol/run';
import { useWorkbench } from '../providers/workbench-context.tsx';
import { AttachmentList } from '../result/attachment-list.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { VisuallyHidden } from '../ui/visually-hidden.tsx';

export const textOf = (message: Message): string =>
  message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

export function UserBubble({ message }: { message: Message }) {
  const t = useTranslations('conversation');
  return (
    <div className="ml-auto w-fit max-w-[85%] whitespace-pre-wrap rounded-[10px] bg-surface2 px-3 py-2 [overflow-wrap:anywhere]">
      {message.author ? (
        <p className="text-muted text-xs">{personName(message.author.name)}</p>
      ) : (
        <VisuallyHidden>{`${t('you')}: `}</VisuallyHidden>
      )}
      <MarkedText text={textOf(message)} keepLayout />
      <SentFiles message={message} />
    </div>
  );
}

function SentFiles({ message }: { message: Message }) {
  const t = useTranslations('conversation');
  const { api } = useWorkbench();
  const files = message.parts.flatMap((part) => (part.type === 'file' ? [part.file] : []));
  if (files.length === 0) return null;
  return (
    <AttachmentList
      attachments={files}
      name={t('you')}
      blobUrl={api.blobUrl}
      isReconstructed={false}
    />
  );
}
