import { useTranslations } from 'next-intl';
import type { SameQuestion } from './use-question.ts';

/** Beside a decision: about how many calls it is. In its place, where another card has it: the way there. */
export function SameQuestionNote({ callId, same }: { callId: string; same: SameQuestion }) {
  const t = useTranslations('card.approval');
  const { first, count } = same;
  if (first === undefined || (first === callId && count < 2)) return null;
  return (
    <p className="mt-1 text-wait" data-testid="same-question">
      {first === callId ? (
        t('decidesAll', { count })
      ) : (
        <a className="underline underline-offset-2" href={`#call=${first}`}>
          {t('decidedThere')}
        </a>
      )}
    </p>
  );
}
