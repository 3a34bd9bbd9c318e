import { Bot } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { MarkedText } from '#components/ui/marked-text';
import { VisuallyHidden } from '#components/ui/visually-hidden';
import type { Card } from '#lib/protocol/card';

const AGENT = 'agent:';

/** Which program asked, for calls of programs with a token of their own; of all others nothing. */
export function AgentChip({ requested_by: caller }: Pick<Card, 'requested_by'>) {
  const t = useTranslations('card');
  if (!caller?.startsWith(AGENT)) return null;
  const name = caller.slice(AGENT.length);
  return (
    <span
      className="chip min-w-0 max-w-44 text-muted"
      title={t('agent', { name })}
      data-testid="agent-chip"
    >
      <Bot aria-hidden className="size-3.5 shrink-0" strokeWidth={2.25} />
      <span aria-hidden className="min-w-0 truncate">
        <MarkedText text={name} />
      </span>
      <VisuallyHidden>
        <MarkedText text={t('agent', { name })} />
      </VisuallyHidden>
    </span>
  );
}
