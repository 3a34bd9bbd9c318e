import { useTranslations } from 'next-intl';
import { MarkedText } from '#components/ui/marked-text';
import type { Card } from '#lib/protocol/card';

type DecidedByProps = NonNullable<Card['approval_decision']> & { isQuestion: boolean };

/** Whose decision on the call it was, which is the first and the only one, and of how many calls. */
export function DecidedBy({ by, decision, edited, calls = 1, isQuestion }: DecidedByProps) {
  const t = useTranslations('card');
  const isAnswered = isQuestion || decision === 'answer';
  const did = isAnswered
    ? (`question.${decision === 'no' ? 'declinedBy' : 'answeredBy'}` as const)
    : (`approval.${decision === 'no' ? 'deniedBy' : edited ? 'editedBy' : 'allowedBy'}` as const);
  const together = calls > 1 ? ` · ${t('approval.decidesAll', { count: calls })}` : '';
  return (
    <p className="mt-1.5 text-xs text-muted wrap-anywhere" data-testid="decided-by">
      <MarkedText text={`${t(did, { name: by })}${together}`} />
    </p>
  );
}
