import { useTranslations } from 'next-intl';
import { MarkedText } from '../ui/marked-text.tsx';

/** Which tool asks, and how many questions wait behind it. */
export function PromptSource({ tool, more }: { tool: string; more: number }) {
  const t = useTranslations('shell.tab');
  return (
    <p className="text-muted">
      <span className="mono">
        <MarkedText text={tool} />
      </span>
      {more > 0 && ` · ${t('more', { count: more })}`}
    </p>
  );
}
