'use client';

import { useTranslations } from 'next-intl';
import { idlePatterns, type NamingPolicy } from '#lib/policy/idle-patterns';
import { useTools } from '../../providers/workbench-context.tsx';
import { MarkedText } from '../../ui/marked-text.tsx';

/** A name in the policy that is misspelt decides about nothing, which its rule does not show. */
export function IdlePatterns({ policy }: { policy: NamingPolicy }) {
  const t = useTranslations('settings.policy');
  const tools = useTools();
  const idle = idlePatterns(
    policy,
    tools.map(({ name }) => name),
  );
  if (idle.length === 0) return null;
  return (
    <p data-testid="idle-patterns" className="mt-2 text-muted wrap-anywhere">
      {t('idle')}{' '}
      <span className="mono">
        <MarkedText text={idle.join(', ')} />
      </span>
    </p>
  );
}
