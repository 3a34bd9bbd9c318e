import { useTranslations } from 'next-intl';
import type { Message } from '#lib/protocol/run';
import { MarkedText } from '../ui/marked-text.tsx';
import { VisuallyHidden } from '../ui/visually-hidden.tsx';

export const textOf = (message: Message): string =>
  message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

export function UserBubble({ message }: { message: Message }) {
  const t = useTranslations('conversation');
  return (
    <div className="ml-auto w-fit max-w-[85%] whitespace-pre-wrap rounded-[10px] bg-surface2 px-3 py-2 [overflow-wrap:anywhere]">
      <VisuallyHidden>{`${t('you')}: `}</VisuallyHidden>
      <MarkedText text={textOf(message)} keepLayout />
    </div>
  );
}
